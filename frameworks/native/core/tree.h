/*
 * The tree of schedulers: down to a thread, and up from one.
 */
#ifndef CATAPULTS_CORE_TREE_H
#define CATAPULTS_CORE_TREE_H

#include "core/state.h"

/* What a scheduler dispatched, after those above it, is no thread that can run: goes down to one that can, and waits
 * until there is one. Sets `turn`; returns who runs on it. */
struct dispatcher_thread *core_descend_from(struct processor *here, struct scheduler *scheduler,
                                            struct catapults_thread *dispatched);

/* What was RUNNING has given the processor up at its scheduler: so do all schedulers above it. */
void core_give_up(struct processor *here, struct dispatcher_thread *member);

/* Asks all schedulers between `thread` and what is RUNNING that it be next. False: it cannot be. */
bool core_ask_for(struct processor *here, struct dispatcher_thread *thread, const struct dispatcher_thread *turn);

/* Of an event that was raised while the thread whose turn it is was RUNNING: whether it, or a scheduler above it, has
 * lost the processor. All of them have given it up then. */
bool core_preempted(struct processor *here, struct dispatcher_thread *turn);
bool core_is_taken(struct processor *here, const struct dispatcher_thread *turn);

/* It is RUNNING, unless the policy has moved it to a READY container: gives the processor up. */
void core_switch_out(struct processor *here, struct dispatcher_thread *member);

/* What it is RUNNING for, one level up; NULL: nothing, it is right under the root. */
struct dispatcher_thread *core_above(struct processor *here, const struct dispatcher_thread *member);

/* The record of a scheduler goes over to `state`. */
void core_raise_at_parent(struct processor *here, struct dispatcher_thread *record, enum dispatcher_state state,
                          const struct dispatcher_thread *runs);

/* Schedulers that dispatched nothing are asked again when something has happened. `in_vain`: nothing ever will. Whether
 * there is one. */
bool core_wake_idle(struct processor *here, bool in_vain);

/* Something under `scheduler` has become RUNNABLE, or something has happened that it may have waited for; nothing but
 * what is RUNNING has stopped being RUNNABLE under it. `runs`: the thread that is RUNNING, or NULL. */
void core_gained(struct processor *here, struct scheduler *scheduler, const struct dispatcher_thread *runs);
void core_lost(struct processor *here, struct scheduler *scheduler, const struct dispatcher_thread *runs);

/* What of `scheduler` is RUNNING while the thread `turn` is; NULL: nothing. */
struct dispatcher_thread *core_member(struct processor *here, const struct scheduler *scheduler,
                                      const struct dispatcher_thread *turn);

#endif
