/*
 * A policy that has an instance for each processor.
 */
#ifndef CATAPULTS_CORE_NODES_H
#define CATAPULTS_CORE_NODES_H

#include "core/state.h"

/* The policy of the root has nodes: `memory` is that of core_instance_size. Starts it, with the first one. */
void core_nodes_start(struct processor *here, struct processor *first, const struct catapults_policy *policy,
                      char *memory);

/* A processor comes, whose node lies there; one goes. */
void core_node_arrives(struct processor *here, struct processor *processor, void *memory);
void core_node_departs(struct processor *here, struct processor *processor);

/* The same in place of another policy: starts it, with a node for each processor that is not parked; `nodes`: memory of
 * core_node_size for each but the first. Returns what it stopped at. */
const struct catapults_stop *core_nodes_begin(struct processor *here, const struct catapults_policy *policy,
                                              char *memory, void *const *nodes);

/* Of a thread that it has adopted and that is in no instance: tells it, as of a new one. Returns what it stopped at. */
const struct catapults_stop *core_place_first(struct processor *here, struct dispatcher_thread *thread);

/* All that is homeless and can run is placed. */
void core_place_homeless(struct processor *here);

/* It has another policy now: there is one instance for all. */
void core_nodes_end(struct processor *here);

/* Of a thread, or the record of a scheduler, that is new, RUNNABLE and under `scheduler`, an instance: that which it is
 * to be in; NULL: the policy is out, and has been seen to. */
struct scheduler *core_place(struct processor *here, struct dispatcher_thread *thread, struct scheduler *scheduler,
                             const struct dispatcher_thread *runs);

/* The thread, or the record of a scheduler, which is homeless and RUNNABLE, goes on somewhere. */
void core_place_anew(struct processor *here, struct dispatcher_thread *thread, const struct dispatcher_thread *runs);

/* The instance has nothing to run: asks the others. False: they gave nothing, or the policy is out. */
bool core_steal(struct processor *here, struct scheduler *scheduler);

/* The thread, which has become READY, is looked at when it could be stolen; or no longer, as it ends. */
void core_list_picky(struct processor *here, struct dispatcher_thread *thread);
void core_unlist_picky(struct processor *here, struct dispatcher_thread *thread);
static inline void core_became_ready(struct processor *here, struct dispatcher_thread *thread) {
    if (UNLIKELY(here->core->picky))
        core_list_picky(here, thread);
}

/* Whether some instance may have something to give away. */
bool core_is_something_to_steal(struct processor *here);

/* Threads have become READY there, or its turn is over, or may have been taken: its processor sees to that. */
void core_notice(struct processor *here, struct scheduler *scheduler);
static inline void core_noticed(struct processor *here, struct scheduler *scheduler) {
    if (UNLIKELY(here->core->several) && scheduler->node)
        core_notice(here, scheduler);
}

/* As in dispatcher/dispatcher.h. */
unsigned long core_node_size(const struct catapults_policy *policy);

#endif
