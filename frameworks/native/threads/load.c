/*
 * Policies in shared objects.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "threads/runtime.h"

static const char *what_is_wrong(const struct catapults_policy *policy, char *text, size_t size);

int policy_load(const char *file, const struct catapults_policy **result, void **instance) {
    *result = NULL;
    if (!file || !*file)
        return 0;
    char *path = realpath(file, NULL); /* without a slash, dlopen would search elsewhere */
    if (!path) {
        runtime_report("cannot open the policy %s: %s; build it with `catapults build`", file, strerror(errno));
        return EINVAL;
    }
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
        runtime_report("the policy %s is no file; name the shared object that `catapults build` made", file);
        free(path);
        return EINVAL;
    }
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    free(path);
    if (!object) {
        runtime_report("cannot load the policy %s: %s; build it with `catapults build`", file, dlerror());
        return EINVAL;
    }
    const struct catapults_policy *policy = dlsym(object, "catapults_policy");
    char text[256];
    const char *wrong = policy ? what_is_wrong(policy, text, sizeof text)
                               : "it is a shared object, but no policy: it has no symbol `catapults_policy`";
    if (wrong) {
        runtime_report("cannot use the policy %s: %s; rebuild it with `catapults build --framework native`", file,
                       wrong);
        dlclose(object);
        return EINVAL;
    }
    size_t size = ((size_t)policy->instance_size + 15) & ~(size_t)15;
    *instance = aligned_alloc(16, size ? size : 16);
    if (!*instance) {
        runtime_report("no memory for the policy %s", file);
        dlclose(object);
        return ENOMEM;
    }
    memset(*instance, 0, size);
    *result = policy;
    return 0;
}

static const char *what_is_wrong(const struct catapults_policy *policy, char *text, size_t size) {
    if (policy->magic != CATAPULTS_MAGIC)
        return "its `catapults_policy` does not describe a policy";
    if (policy->contract != CATAPULTS_CONTRACT)
        snprintf(text, size, "it was built for version %u of the contract with policies, this runtime has version %u",
                 policy->contract, CATAPULTS_CONTRACT);
    else if (strcmp(policy->framework, "native") != 0)
        snprintf(text, size, "it was built for the framework `%.64s`, this runtime is `native`", policy->framework);
    else if (policy->framework_abi != CATAPULTS_NATIVE_ABI)
        snprintf(text, size, "it was built for version %u of the framework `native`, this runtime has version %u",
                 policy->framework_abi, CATAPULTS_NATIVE_ABI);
    else if (policy->thread_size < sizeof(struct catapults_thread) || !policy->handlers || !policy->classes ||
             !policy->start || !policy->adopt)
        return "its description is damaged";
    else
        return NULL;
    return text;
}
