/*
 * Whether a policy that was found in a shared object can be used, for hosts that load policies. Needs libc.
 */
#ifndef CATAPULTS_LOADABLE_H
#define CATAPULTS_LOADABLE_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "catapults/policy.h"

/* Why a host cannot use a policy: a constant, or `text` with the words in it; NULL if it can. `host` is what calls
 * itself so in messages. */
static inline const char *catapults_unusable(const struct catapults_policy *policy, const char *host,
                                             const char *framework, uint32_t abi, char *text, size_t size) {
    if (policy->magic != CATAPULTS_MAGIC)
        return "its `catapults_policy` does not describe a policy";
    if (policy->contract != CATAPULTS_CONTRACT)
        snprintf(text, size, "it was built for version %u of the contract with policies, %s has version %u",
                 policy->contract, host, CATAPULTS_CONTRACT);
    else if (strcmp(policy->framework, framework) != 0)
        snprintf(text, size, "it was built for the framework `%.64s`, %s is `%s`", policy->framework, host, framework);
    else if (policy->framework_abi != abi)
        snprintf(text, size, "it was built for version %u of the framework `%s`, %s has version %u",
                 policy->framework_abi, framework, host, abi);
    else if (policy->shared_size)
        snprintf(text, size, "it has an instance for each node, and %s has one for all", host);
    else if (policy->thread_size < sizeof(struct catapults_thread) || !policy->handlers || !policy->classes ||
             !policy->start || !policy->adopt)
        return "its description is damaged";
    else
        return NULL;
    return text;
}

#endif
