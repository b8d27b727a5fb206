/*
 * Donors that cannot lend their turns now, on several processors.
 */
#ifndef CATAPULTS_CORE_BLOCKED_DONORS_H
#define CATAPULTS_CORE_BLOCKED_DONORS_H

#include "core/state.h"

void core_blocked_donors_start(struct core *core);
void core_enlist(struct processor *here, struct dispatcher_thread *thread);
void core_strike_off(struct processor *here, struct dispatcher_thread *thread);

/* A blocked donor that can lend a turn now, or waits no longer, is roused. `runs`: as for core_contain. */
void core_settle(struct processor *here, const struct dispatcher_thread *runs);

/* On turns of other processors may run somebody for whom those do not wait any longer: they see to that. */
void core_look_at_turns(struct processor *here);
/* The thread runs no longer, or can again, or waits for another or not at all: blocked donors behind it look anew. */
static inline void core_changed(struct processor *here, struct dispatcher_thread *thread) {
    struct core *core = here->core;
    if (UNLIKELY(thread->relays) && core->several) {
        thread->relays = false;
        core->chains_changed = true;
    }
}

#endif
