/*
 * When a processor is to be interrupted.
 */
#ifndef CATAPULTS_CORE_QUANTUM_H
#define CATAPULTS_CORE_QUANTUM_H

#include "core/outside.h"
#include "core/state.h"

/* Has the processor interrupted if there is a reason: see quantum.c. */
void core_arm(struct processor *here);

/* A tick: raises `tick` of the RUNNING turn at its scheduler, and of the records above it at those above, as long as
 * something waits there. */
void core_raise_tick(struct processor *here, struct dispatcher_thread *turn);

/* Whether a processor that computes looks after threads that wake, before this one has to. A parked one does not count:
 * it may stop at any time, and nobody goes on there. */
bool core_is_seen_to(const struct processor *here, int64_t instant);

/* Several processors: whether nobody else would find out in time what happens outside while a thread runs here. */
static inline bool core_nobody_looks(const struct processor *here) {
    struct core *core = here->core;
    if (core->poller)
        return false;
    if (!here->armed)
        return core_is_under_way(here->core);
    const struct timer *first = core->timers;
    return UNLIKELY(first != NULL) && first->instant < here->armed && !core_is_seen_to(here, first->instant);
}

#endif
