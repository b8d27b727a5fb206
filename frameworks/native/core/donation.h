/*
 * A thread that waits for another lends it its turns.
 */
#ifndef CATAPULTS_CORE_DONATION_H
#define CATAPULTS_CORE_DONATION_H

#include "core/state.h"

/* Who is to run on a RUNNING turn: the end of its chain. NULL: nobody can, and the thread whose turn it is has been
 * blocked. The second is for the turn of this processor, which then goes on with the result. There, NULL may also mean
 * that the turn waits for another processor. */
struct dispatcher_thread *core_borrower(struct processor *here, struct dispatcher_thread *turn);
struct dispatcher_thread *core_borrow(struct processor *here, struct dispatcher_thread *turn);

/* Whether the end of the thread's chain could run on its turn. */
bool core_can_lend(struct processor *here, const struct dispatcher_thread *thread);

/* The thread becomes a blocked donor: the end of its chain cannot run. */
void core_block_donor(struct processor *here, struct dispatcher_thread *thread, struct dispatcher_thread *end);

/* The thread runs now. If it waited, it looks again whether it has to. */
void core_about_to_run(struct processor *here, struct dispatcher_thread *end);

/* The blocked donors of `end` become READY; the second: one of them. `runs`: as for core_contain. */
void core_rouse(struct processor *here, struct dispatcher_thread *end, const struct dispatcher_thread *runs);
void core_rouse_one(struct processor *here, struct dispatcher_thread *thread, const struct dispatcher_thread *runs);

/* The thread to which this one lends its turns; NULL: none. The end of its chain, which may be the thread itself. */
struct dispatcher_thread *core_lends_to(struct processor *here, const struct dispatcher_thread *thread);
struct dispatcher_thread *core_end_of(struct processor *here, struct dispatcher_thread *thread);

/* The thread waits no longer. Whether it was READY or RUNNING to its policy all the time, and so hears no event. */
bool core_stop_lending(struct processor *here, struct dispatcher_thread *thread, const struct dispatcher_thread *runs);

/* As in dispatcher/dispatcher.h. */
enum dispatcher_cycle core_cycle(struct processor *here, const uintptr_t *to);
void core_redirected(struct processor *here, struct dispatcher_thread *thread, const uintptr_t *to);
void core_renamed(struct processor *here, struct dispatcher_thread *thread);
struct dispatcher_thread *core_waited_for(struct processor *here, const struct dispatcher_thread *thread);

#endif
