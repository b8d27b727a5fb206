/*
 * A policy that has an instance for each processor.
 */
#ifndef CATAPULTS_CORE_NODES_H
#define CATAPULTS_CORE_NODES_H

#include "core/state.h"

/* Starts the root's policy, which has nodes, with the node of the first processor. `memory`: core_instance_size bytes.
 */
void core_nodes_start(struct processor *here, struct processor *first, const struct catapults_policy *policy,
                      char *memory);

/* A processor comes, whose node lies at `memory`; and one goes. */
void core_node_arrives(struct processor *here, struct processor *processor, void *memory);
void core_node_departs(struct processor *here, struct processor *processor);

/* Starts a policy with nodes in the place of another, with a node for each processor that is not parked. `nodes`:
 * core_node_size bytes for each processor but the first. Returns what the policy stopped at, or NULL. */
const struct catapults_stop *core_nodes_begin(struct processor *here, const struct catapults_policy *policy,
                                              char *memory, void *const *nodes);

/* Places a thread that the policy has adopted, and that is in no instance yet, like a new one. Returns what the policy
 * stopped at, or NULL. */
const struct catapults_stop *core_place_first(struct processor *here, struct dispatcher_thread *thread);

/* Places all homeless threads that can run. */
void core_place_homeless(struct processor *here);

/* The root has a policy without nodes now: one instance for all processors. */
void core_nodes_end(struct processor *here);

/* Chooses the instance for a new thread or record, which is RUNNABLE and under `scheduler`, one of the instances. NULL:
 * the policy failed and was replaced, and the thread is filed. */
struct scheduler *core_place(struct processor *here, struct dispatcher_thread *thread, struct scheduler *scheduler,
                             const struct dispatcher_thread *runs);

/* Places a homeless thread or record, which is RUNNABLE. */
void core_place_anew(struct processor *here, struct dispatcher_thread *thread, const struct dispatcher_thread *runs);

/* The instance has nothing to run: asks the others. False: they gave nothing, or the policy failed. */
bool core_steal(struct processor *here, struct scheduler *scheduler);

/* Lists a READY thread that may not be stolen by every processor; and takes it out, as it ends. */
void core_list_picky(struct processor *here, struct dispatcher_thread *thread);
void core_unlist_picky(struct processor *here, struct dispatcher_thread *thread);
static inline void core_became_ready(struct processor *here, struct dispatcher_thread *thread) {
    if (UNLIKELY(here->core->picky))
        core_list_picky(here, thread);
}

/* Whether some instance may have something to give away. */
bool core_is_something_to_steal(struct processor *here);

/* Threads have become READY in the instance, or its turn is over, or may be: wakes or interrupts its processor. */
void core_notice(struct processor *here, struct scheduler *scheduler);
static inline void core_noticed(struct processor *here, struct scheduler *scheduler) {
    if (UNLIKELY(here->core->several) && scheduler->node)
        core_notice(here, scheduler);
}

/* As in dispatcher/dispatcher.h. */
unsigned long core_node_size(const struct catapults_policy *policy);

#endif
