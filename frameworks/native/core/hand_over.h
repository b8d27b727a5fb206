/*
 * A processor changes kernel threads.
 */
#ifndef CATAPULTS_CORE_HAND_OVER_H
#define CATAPULTS_CORE_HAND_OVER_H

#include "core/state.h"

/* Whether the number of any processor can be handed over to this one: see hand_over.c. */
static inline bool core_can_carry(struct processor *here, const struct processor *there) {
    struct core *core = here->core;
    return there->parked && there->current == &there->idle && !there->handed && !there->turns_first &&
           core->host->another && !core->root.node;
}

/* Whether the thread is bound to no other processors, and not left where it can go on on another kernel thread only. */
static inline bool core_may_run_on(struct processor *here, const struct dispatcher_thread *thread,
                                   const struct processor *processor) {
    if (UNLIKELY(thread->kept_on != NULL) && thread->kept_on != processor && !core_can_carry(here, thread->kept_on))
        return false;
    return LIKELY(!thread->bound) || (processor->number < 64 && processor->number < here->core->known &&
                                      (thread->bound >> processor->number & 1));
}

/* What `here` has dispatched, `next`, is handed over with its number to another kernel thread. The first: since it goes
 * on there, where nothing runs. The second: since others go on here only. False: it is not. */
bool core_hands_to(struct processor *here, struct processor *there, struct dispatcher_thread *next);
bool core_hands_on(struct processor *here, struct dispatcher_thread *next);

#endif
