/*
 * How many threads are READY.
 */
#ifndef CATAPULTS_CORE_READY_H
#define CATAPULTS_CORE_READY_H

#include "core/scheduler_records.h"
#include "core/state.h"

/* The next instance of a policy with nodes, in the list of all schedulers. */
static inline struct scheduler *core_next_node(const struct scheduler *node) {
    struct scheduler *next = node->next;
    while (next && !next->node)
        next = next->next;
    return next;
}

/* How many threads are READY in the instance. */
static inline int64_t core_ready_at(struct processor *here, const struct scheduler *scheduler) {
    struct core *core = here->core;
    if (UNLIKELY(scheduler->node != NULL))
        return scheduler->runnable - (core->running_frames[scheduler->node->frame].turn != NULL);
    if (UNLIKELY(scheduler->parent != NULL))
        return scheduler->runnable - core_running_under(here, scheduler);
    return scheduler->runnable - core->running;
}

/* The same for all instances of the root's policy. */
static inline int64_t core_ready(struct processor *here) {
    struct core *core = here->core;
    int64_t runnable = 0;
    for (const struct scheduler *node = core->root.node ? &core->root : NULL; node; node = core_next_node(node))
        runnable += node->runnable;
    return (core->root.node ? runnable : core->root.runnable) - core->running;
}

#endif
