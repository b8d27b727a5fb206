/*
 * Policies in shared objects.
 */
#ifndef CATAPULTS_PROCESS_LOAD_H
#define CATAPULTS_PROCESS_LOAD_H

#include "process/member.h"

/* The policy in a shared object, or the hierarchy and its root's policy; `hierarchy` NULL: a hierarchy is refused. NULL
 * in *policy: none is asked for. Reports what is wrong. Returns EINVAL or, if the policy has nodes and `nodes` is
 * false, ENOTSUP. */
int policy_load(const char *file, bool nodes, const struct catapults_policy **policy,
                const struct catapults_hierarchy **hierarchy);
/* Before there are activations: a kernel thread of its own loads policies from then on. Returns 0 or an error number,
 * having reported. */
int load_prepare_elsewhere(void);

/* Whether it lacks a handler that it must have. Its table of handlers is whole. */
bool policy_lacks_handlers(const struct catapults_policy *policy);

/* Zeroed memory for an instance of it; NULL: there is none, which is reported. */
void *policy_instance(const struct catapults_policy *policy);

#endif
