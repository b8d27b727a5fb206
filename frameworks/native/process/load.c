/*
 * Policies in shared objects.
 */
#include <dlfcn.h>
#include <errno.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "catapults/loadable.h"
#include "contexts/libc.h"
#include "contexts/memory.h"
#include "process/load.h"
#include "process/report.h"
#include "process/runtime.h"

static int load(const char *path, const char *file, bool nodes, const struct catapults_policy **result,
                const struct catapults_hierarchy **tree);

struct loading {
    const char *path, *file;
    bool nodes;
    const struct catapults_policy **result;
    const struct catapults_hierarchy **tree;
    int error;
};
static void load_here(struct loading *loading);
static void load_elsewhere(struct loading *loading);
static const char *unusable(const struct catapults_hierarchy *hierarchy, char *text, size_t size);
static const char *unusable_policy(const struct catapults_policy *policy, bool nodes, char *text, size_t size);

int policy_load(const char *file, bool nodes, const struct catapults_policy **result,
                const struct catapults_hierarchy **tree) {
    *result = NULL;
    if (tree)
        *tree = NULL;
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
    if (catapults_cut_off(path)) {
        runtime_report("cannot load the policy %s: its end is missing; build it again with `catapults build`", file);
        free(path);
        return EINVAL;
    }
    struct loading loading = {path, file, nodes, result, tree, 0};
    (runtime.started && runtime.activations ? load_elsewhere : load_here)(&loading);
    free(path);
    return loading.error;
}

static void load_here(struct loading *loading) {
    loading->error = load(loading->path, loading->file, loading->nodes, loading->result, loading->tree);
}

/* ---- Elsewhere --------------------------------------------------------------------------------------------------- */

/* With activations the caller may lose its processor while it has the locks of ld.so and libc. Making kernel threads
 * needs those, and without new ones no processor is taken over from a thread that blocks. A kernel thread that is no
 * activation loses nothing. It is made once, because making it takes such a lock, too. */
static struct {
    bool there;
    sem_t free, asked, done; /* one loads at a time: `wanted` belongs to the one that has `free` */
    struct loading *wanted;
} elsewhere;

static void await(sem_t *semaphore) {
    while (sem_wait(semaphore) != 0)
        ; /* EINTR */
}

static void *loader(void *unused) {
    (void)unused;
    for (;;) {
        await(&elsewhere.asked);
        load_here(elsewhere.wanted);
        sem_post(&elsewhere.done); /* cannot fail, nor below: it is never above 1 */
    }
    return NULL;
}

int load_prepare_elsewhere(void) {
    if (elsewhere.there)
        return 0;
    if (sem_init(&elsewhere.free, 0, 1) != 0 || sem_init(&elsewhere.asked, 0, 0) != 0 ||
        sem_init(&elsewhere.done, 0, 0) != 0)
        return errno;
    int error = libc_make_thread(loader, NULL, 0);
    elsewhere.there = error == 0;
    if (error)
        runtime_report("there is no kernel thread to load policies by: %s", strerror(error));
    return error;
}

static void load_elsewhere(struct loading *loading) {
    await(&elsewhere.free);
    elsewhere.wanted = loading;
    sem_post(&elsewhere.asked); /* see above */
    await(&elsewhere.done);
    sem_post(&elsewhere.free); /* see above */
}

/* ---- Here -------------------------------------------------------------------------------------------------------- */

/* The description that says why threads are moved, if that is recorded and the object has it. */
static const void *described(void *object, const char *name, const char *traced) {
    const void *description = runtime.traced ? dlsym(object, traced) : NULL;
    return description ? description : dlsym(object, name);
}

static int load(const char *path, const char *file, bool nodes, const struct catapults_policy **result,
                const struct catapults_hierarchy **tree) {
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!object) {
        runtime_report("cannot load the policy %s: %s; build it with `catapults build`", file, dlerror());
        return EINVAL;
    }
    const struct catapults_hierarchy *hierarchy =
        described(object, "catapults_hierarchy", "catapults_hierarchy_traced");
    const struct catapults_policy *policy =
        hierarchy ? NULL : described(object, "catapults_policy", "catapults_policy_traced");
    char text[256];
    const char *wrong = hierarchy && !tree ? "it is a hierarchy, and only a policy can be used here"
                        : hierarchy        ? unusable(hierarchy, text, sizeof text)
                        : policy           ? unusable_policy(policy, true, text, sizeof text)
                                 : "it is a shared object, but no policy: it has no symbol `catapults_policy`";
    if (wrong) {
        runtime_report("cannot use the policy %s: %s; rebuild it with `catapults build --framework native FILE.sched`",
                       file, wrong);
        dlclose(object);
        return EINVAL;
    }
    if (!nodes && policy->shared_size) {
        runtime_report("the policy %s has an instance for each node: it can only be that of the root", file);
        dlclose(object);
        return ENOTSUP;
    }
    *result = hierarchy ? hierarchy->nodes[0].policy : policy;
    if (tree)
        *tree = hierarchy;
    return 0;
}

void *policy_instance(const struct catapults_policy *policy) {
    size_t size = dispatcher_instance_size(policy, runtime.several);
    void *instance = memory_take(size);
    if (!instance)
        runtime_report("no memory for the policy %s", policy->name);
    return instance;
}

/* Handlers that native.framework does not call optional are called without a look. */
bool policy_lacks_handlers(const struct catapults_policy *policy) {
    const char *handlers = policy->handlers;
    static const size_t optional[] = {
        offsetof(struct native_handlers, init),    offsetof(struct native_handlers, set_next_thread),
        offsetof(struct native_handlers, tick),    offsetof(struct native_handlers, release),
        offsetof(struct native_handlers, changed), offsetof(struct native_handlers, dispatch),
        offsetof(struct native_handlers, steal)};
    size_t end = policy->shared_size ? sizeof(struct native_handlers) : offsetof(struct native_handlers, arrival);
    for (size_t at = 0; at < end; at += sizeof(void *)) {
        bool needed = !*(void *const *)(handlers + at);
        for (size_t i = 0; i < sizeof optional / sizeof *optional; i++)
            needed = needed && at != optional[i];
        if (needed)
            return true;
    }
    return false;
}

static const char *unusable_policy(const struct catapults_policy *policy, bool nodes, char *text, size_t size) {
    const char *wrong = catapults_unusable(policy, nodes ? "this runtime" : "a scheduler beside others", "native",
                                           CATAPULTS_NATIVE_ABI, nodes, sizeof(struct native_handlers), text, size);
    return wrong || !policy_lacks_handlers(policy) ? wrong : "it lacks a handler that it must have";
}

static bool has_parameters(const struct catapults_object *object, const struct catapults_hierarchy_node *node) {
    if (!catapults_has_table(object, node->parameters, node->parameters_count, sizeof *node->parameters))
        return false;
    for (uint32_t i = 0; i < node->parameters_count; i++)
        if (!catapults_has_text(object, node->parameters[i].name))
            return false;
    return true;
}

static const char *unusable(const struct catapults_hierarchy *hierarchy, char *text, size_t size) {
    struct catapults_object object;
    if (!catapults_object_find(&object, hierarchy) || !catapults_has_table(&object, hierarchy, 1, sizeof *hierarchy) ||
        hierarchy->magic != CATAPULTS_HIERARCHY_MAGIC)
        return "its `catapults_hierarchy` does not describe a hierarchy";
    if (hierarchy->contract != CATAPULTS_CONTRACT) {
        snprintf(text, size, "it was built for version %u of the contract with policies, this runtime has version %u%s",
                 hierarchy->contract, CATAPULTS_CONTRACT, catapults_if_newer(hierarchy->contract, CATAPULTS_CONTRACT));
        return text;
    }
    if (hierarchy->nodes_count == 0 || hierarchy->default_node >= hierarchy->nodes_count ||
        !catapults_has_text(&object, hierarchy->name) || !catapults_has_text(&object, hierarchy->source) ||
        !catapults_has_table(&object, hierarchy->nodes, hierarchy->nodes_count, sizeof *hierarchy->nodes))
        return "its description is damaged";
    for (uint32_t i = 0; i < hierarchy->nodes_count; i++) {
        const struct catapults_hierarchy_node *node = &hierarchy->nodes[i];
        if (!catapults_has_text(&object, node->name) || !has_parameters(&object, node) ||
            (i == 0 ? node->parent != 0 : node->parent >= i))
            return "its description is damaged";
        const char *wrong = unusable_policy(node->policy, i == 0, text, size);
        if (wrong)
            return wrong;
    }
    return NULL;
}
