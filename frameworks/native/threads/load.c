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

#include "catapults/loadable.h"
#include "threads/runtime.h"

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
    const char *wrong =
        policy ? catapults_unusable(policy, "this runtime", "native", CATAPULTS_NATIVE_ABI, text, sizeof text)
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
