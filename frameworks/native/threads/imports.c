/*
 * Variables of the application that the policy imports (2005, §5.2). Generated code reads them through pointers in its
 * instance and in its part of each thread; registering a variable is setting these pointers.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "threads/runtime.h"

/* A member of each thread's object that is linked with a per-thread import. */
struct linked {
    const struct catapults_import *import;
    size_t offset; /* in the object */
    struct linked *next;
};

static struct linked *linked;

static const struct catapults_import *find(const struct catapults_import *imports, uint32_t count, const char *name,
                                           int type, int *error);
static const struct catapults_import *find_ceiling(void);
static void link_one(struct catapults_handle *thread, const struct linked *one);

static int register_global(const char *name, int type, void *variable) {
    const struct imports *imports = &runtime.imports;
    int error;
    const struct catapults_import *import =
        find(imports->policy->imports, imports->policy->imports_count, name, type, &error);
    dispatcher_enter();
    if (import && !imports->contained)
        *(void **)((char *)imports->instance + import->pointer) = variable;
    dispatcher_leave();
    return error;
}

/* The link of an import, a new one if there is none; NULL: no memory. */
static struct linked *link_member(const struct catapults_import *import) {
    struct linked *one = linked;
    while (one && one->import != import)
        one = one->next;
    if (!one && (one = malloc(sizeof *one))) {
        one->import = import;
        one->next = linked;
        linked = one;
    }
    return one;
}

static int register_member(const char *name, int type, size_t offset) {
    const struct imports *imports = &runtime.imports;
    int error;
    const struct catapults_import *import =
        find(imports->policy->thread_imports, imports->policy->thread_imports_count, name, type, &error);
    if (!import)
        return error;
    if (import == dispatcher_consumed() || import == find_ceiling()) {
        runtime_report("the application registers `%s`, which the runtime itself keeps for the policy %s; rename one",
                       name, imports->policy->name);
        return EEXIST;
    }
    dispatcher_enter();
    struct linked *one = link_member(import);
    if (one) {
        one->offset = offset;
        for (struct dispatcher_thread *t = dispatcher_first_thread(); t; t = dispatcher_next_thread(t))
            link_one(handle_of(t), one);
    }
    dispatcher_leave();
    return one ? 0 : ENOMEM;
}

int catapults_schedvar_register(const char *name, catapults_int *variable) {
    return register_global(name, CATAPULTS_IMPORT_INT, variable);
}

int catapults_schedvar_register_bool(const char *name, bool *variable) {
    return register_global(name, CATAPULTS_IMPORT_BOOL, variable);
}

int catapults_schedvar_register_time(const char *name, catapults_time *nanoseconds) {
    return register_global(name, CATAPULTS_IMPORT_TIME, nanoseconds);
}

int catapults_schedvar_register_float(const char *name, double *variable) {
    return register_global(name, CATAPULTS_IMPORT_FLOAT, variable);
}

int catapults_threadvar_register_at(const char *name, size_t offset) {
    return register_member(name, CATAPULTS_IMPORT_INT, offset);
}

int catapults_threadvar_register_bool_at(const char *name, size_t offset) {
    return register_member(name, CATAPULTS_IMPORT_BOOL, offset);
}

int catapults_threadvar_register_time_at(const char *name, size_t offset) {
    return register_member(name, CATAPULTS_IMPORT_TIME, offset);
}

int catapults_threadvar_register_float_at(const char *name, size_t offset) {
    return register_member(name, CATAPULTS_IMPORT_FLOAT, offset);
}

void catapults_set_object(catapults_t thread, void *object) {
    dispatcher_enter();
    thread->object = object;
    imports_link(thread);
    dispatcher_leave();
}

void imports_link(struct catapults_handle *thread) {
    for (const struct linked *one = linked; one; one = one->next)
        link_one(thread, one);
    if (thread->has_ceiling)
        imports_link_ceiling(thread);
}

bool imports_has_ceiling(void) { return find_ceiling(); }

void imports_link_ceiling(struct catapults_handle *thread) {
    const struct catapults_import *import = find_ceiling();
    if (!import)
        return;
    char *t = (char *)&thread->dispatched.policy;
    *(void **)(t + import->pointer) = thread->has_ceiling ? (char *)&thread->ceiling : t + import->fallback;
}

/* NULL: the policy in force has none. */
static const struct catapults_import *find_ceiling(void) {
    const struct catapults_policy *policy = dispatcher_policy();
    for (uint32_t i = 0; i < policy->thread_imports_count; i++) {
        const struct catapults_import *import = &policy->thread_imports[i];
        if (import->type == CATAPULTS_IMPORT_INT && strcmp(import->name, "ceiling") == 0)
            return import;
    }
    return NULL;
}

static void link_one(struct catapults_handle *thread, const struct linked *one) {
    if (runtime.imports.contained)
        return;
    char *t = (char *)&thread->dispatched.policy;
    void *variable = thread->object ? (char *)thread->object + one->offset : t + one->import->fallback;
    *(void **)(t + one->import->pointer) = variable;
}

/* NULL: not to be linked, for the reason in *error. */
static const struct catapults_import *find(const struct catapults_import *imports, uint32_t count, const char *name,
                                           int type, int *error) {
    static const char *const types[] = {[CATAPULTS_IMPORT_INT] = "int",
                                        [CATAPULTS_IMPORT_BOOL] = "bool",
                                        [CATAPULTS_IMPORT_TIME] = "time",
                                        [CATAPULTS_IMPORT_FLOAT] = "float"};
    const struct catapults_policy *policy = runtime.imports.policy;
    *error = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(imports[i].name, name) != 0)
            continue;
        if ((int)imports[i].type == type)
            return &imports[i];
        runtime_report(
            "the policy %s imports `%s` as %s, the application registers it as %s; declare it alike in %s and in the "
            "application",
            policy->name, name, types[imports[i].type], types[type], policy->source);
        *error = EINVAL;
        return NULL;
    }
    *error = ENOENT;
    if (runtime.imports.strict) {
        runtime_report(
            "the policy %s has no import `%s`, which the application registers; declare it in %s, or turn strict "
            "imports off (CATAPULTS_STRICT_IMPORTS)",
            policy->name, name, policy->source);
        exit(EXIT_FAILURE);
    }
    return NULL;
}
