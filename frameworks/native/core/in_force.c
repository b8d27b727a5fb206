/*
 * A policy comes into force: which handlers are called.
 */
#include "core/in_force.h"

#include "catapults/random.h"

void core_put_in_force(struct processor *here, struct scheduler *scheduler, const struct catapults_policy *policy,
                       void *instance) {
    const struct core *core = here->core;
    bool watched = policy->unbounded && core->watch;
    scheduler->policy = policy;
    scheduler->instance = instance;
    scheduler->frames = NULL;
    scheduler->self = watched ? scheduler : instance;
    /* What the policy leaves to the host stays left. */
    const void *const *watching = watched ? (const void *const *)core->watch->handlers : NULL;
    const void *const *asked = policy->handlers;
    const void **to = (const void **)&scheduler->handlers;
    for (unsigned i = 0; i < sizeof scheduler->handlers / sizeof *to; i++)
        to[i] = asked[i] && watched ? watching[i] : asked[i];
    scheduler->yield = policy->yield && !watched ? policy->yield : core->yield_in_two;
    if (UNLIKELY(core->recorder != NULL))
        core->recorder->policy_in_force(scheduler);
}

void core_seed(const struct core *core, const struct scheduler *scheduler, void *once) {
    uint64_t seed = core->host->seed ? core->host->seed : CATAPULTS_RANDOM_SEED;
    uint32_t random = scheduler->policy->random;
    if (random)
        catapults_random_seed((struct catapults_random *)((char *)once + random), seed + scheduler->before);
}

const struct catapults_stop *core_raise_timeout(struct processor *here, struct scheduler *scheduler,
                                                const struct catapults_timeout *timeout, struct catapults_thread *t) {
    if (scheduler->self == scheduler)
        return here->core->watch->raise(scheduler, timeout->raise, t);
    return timeout->raise(scheduler->instance, t);
}
