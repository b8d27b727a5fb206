/*
 * A processor changes kernel threads.
 */
#ifndef CATAPULTS_CORE_HAND_OVER_H
#define CATAPULTS_CORE_HAND_OVER_H

#include "core/state.h"

/* Whether another processor's number can be handed over to this kernel thread. */
static inline bool core_can_carry(struct processor *here, const struct processor *there) {
    struct core *core = here->core;
    return there->parked && there->current == &there->idle && !there->handed && !there->turns_first &&
           core->host->another && !core->root.node;
}

/* Whether the thread may run on this processor: it is not bound to others, and does not depend on another kernel
 * thread. */
static inline bool core_may_run_on(struct processor *here, const struct dispatcher_thread *thread,
                                   const struct processor *processor) {
    if (UNLIKELY(thread->kept_on != NULL) && thread->kept_on != processor && !core_can_carry(here, thread->kept_on))
        return false;
    return LIKELY(!thread->bound) || (processor->number < 64 && processor->number < here->core->known &&
                                      (thread->bound >> processor->number & 1));
}

/* Hands the processor's number, and `next`, which it has dispatched, over to another kernel thread. The first: because
 * `next` can go on only there, and nothing runs there. The second: because other threads can go on only here. False:
 * they were not handed over. */
bool core_hands_to(struct processor *here, struct processor *there, struct dispatcher_thread *next);
bool core_hands_on(struct processor *here, struct dispatcher_thread *next);

#endif
