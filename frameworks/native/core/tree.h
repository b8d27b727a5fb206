/*
 * The tree of schedulers: down to a thread, and up from one.
 */
#ifndef CATAPULTS_CORE_TREE_H
#define CATAPULTS_CORE_TREE_H

#include "core/state.h"

/* `scheduler`, and those above it, have dispatched, but `dispatched` is not a thread that can run: it is a scheduler, a
 * thread that lends, or nothing. Goes down to a thread that can run. Sets `turn`, and returns who runs on it; or
 * `idle`, if nobody can. Several processors: NULL instead. */
struct dispatcher_thread *core_descend_from(struct processor *here, struct scheduler *scheduler,
                                            struct catapults_thread *dispatched);

/* A thread or record has given the processor up at its own scheduler. All schedulers above it give it up, too. */
void core_give_up(struct processor *here, struct dispatcher_thread *member);

/* Asks all schedulers between `thread` and what is RUNNING to dispatch it next. False: one of them cannot. */
bool core_ask_for(struct processor *here, struct dispatcher_thread *thread, const struct dispatcher_thread *turn);

/* After an event: whether the thread whose turn it is, or a scheduler above it, has lost the processor. The first makes
 * all of them give it up then. */
bool core_preempted(struct processor *here, struct dispatcher_thread *turn);
bool core_is_taken(struct processor *here, const struct dispatcher_thread *turn);

/* Gives the processor up: raises switch_out, unless the policy has moved the thread to a READY container already. */
void core_switch_out(struct processor *here, struct dispatcher_thread *member);

/* The record for which a RUNNING thread or record runs, one level up. NULL: it is under the root. */
struct dispatcher_thread *core_above(struct processor *here, const struct dispatcher_thread *member);

/* The record of a scheduler changes to `state`: raises the event of that at the parent. */
void core_raise_at_parent(struct processor *here, struct dispatcher_thread *record, enum dispatcher_state state,
                          const struct dispatcher_thread *runs);

/* Something has happened: schedulers that had dispatched nothing are asked again. `in_vain`: nothing will ever happen
 * again, so their policies are out. Returns whether there was such a scheduler. */
bool core_wake_idle(struct processor *here, bool in_vain);

/* The first: something under `scheduler` has become RUNNABLE, or something has happened that it may have waited for.
 * The second: something that was not RUNNING has stopped being RUNNABLE. `runs`: the thread that is RUNNING, or NULL.
 */
void core_gained(struct processor *here, struct scheduler *scheduler, const struct dispatcher_thread *runs);
void core_lost(struct processor *here, struct scheduler *scheduler, const struct dispatcher_thread *runs);

/* The thread or record of `scheduler` that is RUNNING while `turn` is. NULL: none. */
struct dispatcher_thread *core_member(struct processor *here, const struct scheduler *scheduler,
                                      const struct dispatcher_thread *turn);

#endif
