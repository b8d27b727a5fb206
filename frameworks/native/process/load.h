/*
 * Policies in shared objects.
 */
#ifndef CATAPULTS_PROCESS_LOAD_H
#define CATAPULTS_PROCESS_LOAD_H

#include "process/handle.h"

/* The policy in a shared object, or the hierarchy and the policy of its root; `hierarchy` NULL: that is refused. NULL
 * in *policy: none is asked for. Reports what is wrong; returns EINVAL or, unless `nodes` can be, ENOTSUP: the policy
 * has some. */
int policy_load(const char *file, bool nodes, const struct catapults_policy **policy,
                const struct catapults_hierarchy **hierarchy);
/* Before there are activations: from then on a kernel thread of its own loads policies. An error number, reported. */
int load_prepare_elsewhere(void);

/* Zeroed memory for an instance of it; NULL: there is none, which is reported. */
void *policy_instance(const struct catapults_policy *policy);

#endif
