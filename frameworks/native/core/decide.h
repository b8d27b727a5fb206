/*
 * Decisions on several processors.
 */
#ifndef CATAPULTS_CORE_DECIDE_H
#define CATAPULTS_CORE_DECIDE_H

#include "core/state.h"

/* `next` runs on the turn of this processor: see begin_turn in decide.c. */
struct dispatcher_thread *core_go_on(struct processor *here, struct dispatcher_thread *next);

/* Under one policy: the thread is READY, and may run elsewhere than before: who comes last of those that run there on
 * other processors is READY again, if it comes after the thread. */
void core_precede(struct processor *here, const struct dispatcher_thread *thread);

/* The donor waits for the thread, which is to run on a turn that waits for a processor: if it can go on nowhere else,
 * who runs there is to make room; else that turn is READY again, if the donor's comes before it. Or it is postponed:
 * then a turn that the donor comes before makes room. */
void core_hasten(struct processor *here, struct dispatcher_thread *thread, const struct dispatcher_thread *donor);

/* Whose turn it is on this one, whose last turn is over: `turn`. Returns who runs on it, or `idle`: nobody does, or
 * something is due before. */
struct dispatcher_thread *core_decide(struct processor *here);

/* The same, after what was due. */
struct dispatcher_thread *core_decide_after_all(struct processor *here);

/* The processor on whose kernel thread it stands, or goes on; NULL: none. */
struct processor *core_stands_on(struct processor *here, const struct dispatcher_thread *thread);

/* Threads may be READY that no processor takes, of those that have nothing to do and of the caller, if it takes one. It
 * is known only where all are under one scheduler. */
bool core_must_settle(struct processor *here, int64_t taken);

/* The turn of another processor ends, if one has any: so it asks its policy. */
void core_end_another_turn(struct processor *here);

/* The turn does not wait for its processor any longer. */
void core_leave_queue(struct processor *here, struct dispatcher_thread *turn);

/* Who runs here gives the processor up, if a turn has waited for it for so long that the policies do not limit turns
 * after all: whether it does. */
bool core_let_who_waits(struct processor *here, int64_t now);

/* Which instance of a policy with nodes the processor is to ask: its own; while a turn of a scheduler below runs there,
 * on another processor, that one's. NULL: none. */
struct scheduler *core_instance_for(struct processor *here);

/* As in dispatcher/dispatcher.h. */
bool core_is_elsewhere(struct processor *here, const struct dispatcher_thread *thread);

#endif
