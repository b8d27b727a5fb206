/*
 * The core of this process, for the files of the dispatcher.
 */
#ifndef CATAPULTS_INSTANCE_H
#define CATAPULTS_INSTANCE_H

#include "core/state.h"
#include "dispatcher/dispatcher.h"
#include "dispatcher/processor_here.h"

extern struct core dispatcher __attribute__((visibility("hidden")));

/* ---- What its files ask of each other ---------------------------------------------------------------------------- */

/* Looks whether the shortcut can be taken (shortcut.h). */
void dispatcher_find_shortcut(void);

/* How handlers that may run for ever are called, and `switch_out` and `schedule` in one: overrun.c. */
extern const struct watch dispatcher_watch;
struct catapults_thread *dispatcher_yield_in_two(void *self, struct catapults_thread *t,
                                                 const struct catapults_stop **stop);

/* Does what is due here, except what comes before a decision. */
void dispatcher_do_due(struct processor *here);

/* The same, with what comes before the decision, which was `next`. Returns who runs here after all. */
struct dispatcher_thread *dispatcher_attend(struct processor *here, struct dispatcher_thread *next);
struct dispatcher_thread *dispatcher_decide_after_all(struct processor *here);

/* Both attend to timers and the driver; the second waits for them. No thread is RUNNING. */
void dispatcher_look_outside(struct processor *here);
void dispatcher_wait_outside(struct processor *here);

/* Called before policies are started. */
void dispatcher_several_prepare(struct processor *first);

/* When the world outside is attended to: there may be other CPUs. */
void dispatcher_look_for_processors(int64_t now);

/* Sleeps in the driver. */
void dispatcher_poll(struct processor *here);

/* Goes on with `next`: see `run` in switch.h. */
void dispatcher_run(struct processor *here, struct dispatcher_thread *self, struct dispatcher_thread *next);

/* dispatcher_yield, within dispatcher_enter. */
void dispatcher_yield_inside(void);

/* The same as the first, at an instant, while a thread is RUNNING; it may be READY afterwards. */
void dispatcher_look(int64_t now);

#endif
