/*
 * A policy comes into force.
 */
#ifndef CATAPULTS_CORE_IN_FORCE_H
#define CATAPULTS_CORE_IN_FORCE_H

#include "core/state.h"

/* From now on the scheduler has this policy. The instance has not been started yet. */
void core_put_in_force(struct processor *here, struct scheduler *scheduler, const struct catapults_policy *policy,
                       void *instance);

/* Seeds what the scheduler's policy draws from (`random`). Each scheduler has its own seed, from the host's and how
 * many schedulers came before. `once`: the instance, or what instances share; the policy has set it up. */
void core_seed(const struct core *core, const struct scheduler *scheduler, void *once);

/* Raises the event of a policy's timer. */
const struct catapults_stop *core_raise_timeout(struct processor *here, struct scheduler *scheduler,
                                                const struct catapults_timeout *timeout, struct catapults_thread *t);

#endif
