/*
 * What policies are told of time, and how long threads have run.
 */
#ifndef CATAPULTS_CORE_CLOCK_H
#define CATAPULTS_CORE_CLOCK_H

#include "core/state.h"

/* A policy has come into force. */
void core_clock_start(struct processor *here, struct scheduler *scheduler);
/* A thread has come under a policy that asks how long its threads run. */
void core_clock_adopt(struct dispatcher_thread *thread);

/* Tells a scheduler that is `clocked` the time. `running`: what is RUNNING under it is charged for the time since. */
void core_tell(struct processor *here, struct scheduler *scheduler, bool running);

/* The same before each call of a handler, whatever the policy. `running`, unless the handler decides who runs. */
static inline void tell(struct processor *here, struct scheduler *scheduler, bool running) {
    if (UNLIKELY(scheduler->clocked))
        core_tell(here, scheduler, running);
}

/* Charges the turn on the processor for what has been sampled there. */
void core_charge_samples(struct processor *here);
static inline void charge_samples(struct processor *here) {
    if (UNLIKELY(here->sampled != here->charged))
        core_charge_samples(here);
}

/* As in dispatcher/dispatcher.h. */
void core_account(struct processor *here);
void core_watch_consumed(struct processor *here, bool watched);
bool core_counts_consumed(const struct core *core);
int64_t core_consumed_by(struct processor *here, const struct dispatcher_thread *member);

#endif
