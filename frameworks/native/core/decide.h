/*
 * Decisions on several processors.
 */
#ifndef CATAPULTS_CORE_DECIDE_H
#define CATAPULTS_CORE_DECIDE_H

#include "core/state.h"

/* The turn of this processor goes on with `next`. NULL: `next` can run on another processor only, and the turn waits
 * for that. */
struct dispatcher_thread *core_go_on(struct processor *here, struct dispatcher_thread *next);

/* The thread is READY, and may run on other processors than before. Of the threads that run there, the one that its
 * policy orders last becomes READY, if it comes after this thread. One policy decides for all of them. */
void core_precede(struct processor *here, const struct dispatcher_thread *thread);

/* The donor waits for the thread, which is to run on a turn that waits for a processor, or is postponed. If the thread
 * can run nowhere else, the thread that runs there gives way. Otherwise the turn becomes READY again, if the donor
 * comes before it. For a postponed thread, a turn that the donor comes before gives way. */
void core_hasten(struct processor *here, struct dispatcher_thread *thread, const struct dispatcher_thread *donor);

/* The turn of this processor is over. Decides whose turn it is next (`turn`), and returns who runs on it; or `idle`:
 * nobody does, or something is due before the decision. */
struct dispatcher_thread *core_decide(struct processor *here);

/* The same, once what was due has been done. */
struct dispatcher_thread *core_decide_after_all(struct processor *here);

/* The processor on whose kernel thread the thread stands, or can only go on. NULL: none. */
struct processor *core_stands_on(struct processor *here, const struct dispatcher_thread *thread);

/* Whether there may be more READY threads than idle processors, and the caller (`taken`: how many it takes), will
 * dispatch. It is known only if all threads are under one scheduler; otherwise the answer is yes. */
bool core_must_settle(struct processor *here, int64_t taken);

/* Ends the turn of some other processor, if there is one, so that it asks its policy. */
void core_end_another_turn(struct processor *here);

/* The turn no longer waits for its processor. */
void core_leave_queue(struct processor *here, struct dispatcher_thread *turn);

/* If a turn has waited for this processor for too long, whatever the policies say of turns, the running thread gives
 * the processor up. Whether it does. */
bool core_let_who_waits(struct processor *here, int64_t now);

/* Policies with nodes: the instance that the processor asks. That is its own; but if the turn of that one belongs to a
 * scheduler below the root, and runs on another processor, it is the instance of that processor. NULL: none. */
struct scheduler *core_instance_for(struct processor *here);

/* As in dispatcher/dispatcher.h. */
bool core_is_elsewhere(struct processor *here, const struct dispatcher_thread *thread);

#endif
