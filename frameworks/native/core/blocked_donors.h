/*
 * Donors that cannot lend their turns now, on several processors.
 */
#ifndef CATAPULTS_CORE_BLOCKED_DONORS_H
#define CATAPULTS_CORE_BLOCKED_DONORS_H

#include "core/state.h"

void core_blocked_donors_start(struct core *core);

/* A blocked donor enters the list of the word by which it waits, and leaves it. */
void core_enlist(struct processor *here, struct dispatcher_thread *thread);
void core_strike_off(struct processor *here, struct dispatcher_thread *thread);

/* Blocked donors that can lend their turns now, or wait no longer, become READY. `runs`: as for core_contain. */
void core_settle(struct processor *here, const struct dispatcher_thread *runs);

/* Chains have changed: processors that run a thread which is no longer the end of their turn's chain are interrupted.
 */
void core_look_at_turns(struct processor *here);
/* The thread stopped running, can run again, or waits for another thread or none: blocked donors behind it look again.
 */
static inline void core_changed(struct processor *here, struct dispatcher_thread *thread) {
    struct core *core = here->core;
    if (UNLIKELY(thread->relays) && core->several) {
        thread->relays = false;
        core->chains_changed = true;
    }
}

#endif
