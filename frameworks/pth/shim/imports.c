/*
 * Variables of the application that the policy imports (2005, §5.2). Generated code reads them through pointers in its
 * instance and in its part of each thread; registering a variable is setting these pointers. What is registered is
 * remembered, so that it can be registered before pth_init.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "catapults_pth.h"
#include "shim/shim.h"

struct registered {
    struct registered *next;
    const char *name;
    int type;
    bool of_threads;
    void *variable; /* of the application */
    size_t offset;  /* of threads: in their objects */
};

static struct registered *all;

void *import_variable(void *object, const struct catapults_import *import) {
    void *variable;
    memcpy(&variable, (char *)object + import->pointer, sizeof variable);
    return variable;
}

static void link_to(void *object, const struct catapults_import *import, void *variable) {
    memcpy((char *)object + import->pointer, &variable, sizeof variable);
}

static void link_thread(struct record *record, const struct registered *one, const struct catapults_import *import) {
    char *t = (char *)&record->policy;
    link_to(t, import, record->object ? (char *)record->object + one->offset : t + import->fallback);
}

/* NULL: not to be linked, for the reason in errno. */
static const struct catapults_import *find(const struct registered *one) {
    static const char *const types[] = {[CATAPULTS_IMPORT_INT] = "int",
                                        [CATAPULTS_IMPORT_BOOL] = "bool",
                                        [CATAPULTS_IMPORT_TIME] = "time",
                                        [CATAPULTS_IMPORT_FLOAT] = "float"};
    const struct catapults_policy *policy = shim.policy;
    const struct catapults_import *imports = one->of_threads ? policy->thread_imports : policy->imports;
    uint32_t count = one->of_threads ? policy->thread_imports_count : policy->imports_count;
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(imports[i].name, one->name) != 0)
            continue;
        if ((int)imports[i].type == one->type)
            return &imports[i];
        report(
            "the policy %s imports `%s` as %s, the application registers it as %s; declare it alike in %s and in the "
            "application",
            policy->name, one->name, types[imports[i].type], types[one->type], policy->source);
        errno = EINVAL;
        return NULL;
    }
    if (shim.strict) {
        report("the policy %s has no import `%s`, which the application registers; declare it in %s, or unset "
               "PTH_SCHED_STRICT",
               policy->name, one->name, policy->source);
        exit(EXIT_FAILURE);
    }
    errno = ENOENT;
    return NULL;
}

static int link_registered(const struct registered *one) {
    const struct catapults_import *import = find(one);
    if (!import)
        return FALSE;
    if (!one->of_threads)
        link_to(shim.instance, import, one->variable);
    for (struct record *record = one->of_threads ? record_oldest() : NULL; record; record = record->newer) {
        link_thread(record, one, import);
        if (record->object)
            policy_changed(record);
        if (!shim.policy) /* it has just had to go */
            break;
    }
    return TRUE;
}

void imports_start(void) {
    for (const struct registered *one = all; one; one = one->next)
        link_registered(one);
}

/* What the shim itself keeps of threads, for policies that import such a variable, and as long as the application has
 * registered no other of that name. */
static void link_priority(struct record *record) {
    const struct catapults_policy *policy = shim.policy;
    for (uint32_t i = 0; i < policy->thread_imports_count; i++)
        if (policy->thread_imports[i].type == CATAPULTS_IMPORT_INT &&
            strcmp(policy->thread_imports[i].name, "priority") == 0)
            link_to(&record->policy, &policy->thread_imports[i], &record->priority);
}

void imports_link(struct record *record) {
    int error = errno;
    link_priority(record);
    for (const struct registered *one = all; one; one = one->next) {
        const struct catapults_import *import = one->of_threads ? find(one) : NULL;
        if (import)
            link_thread(record, one, import);
    }
    errno = error;
}

/* The last registration of a name holds. */
static int register_variable(struct registered wanted) {
    struct registered *one = all;
    while (one && (one->of_threads != wanted.of_threads || strcmp(one->name, wanted.name) != 0))
        one = one->next;
    if (!one) {
        char *name = strdup(wanted.name);
        one = malloc(sizeof *one);
        if (!name || !one) {
            free(name);
            free(one);
            errno = ENOMEM;
            return FALSE;
        }
        wanted.name = name;
        wanted.next = all;
        all = one;
    } else {
        wanted.name = one->name;
        wanted.next = one->next;
    }
    *one = wanted;
    int done = shim.policy ? link_registered(one) : TRUE;
    int error = errno;
    settle();
    errno = error;
    return done;
}

static int of_scheduler(const char *name, int type, void *variable) {
    return register_variable((struct registered){.name = name, .type = type, .variable = variable});
}

static int of_threads(const char *name, int type, size_t offset) {
    return register_variable((struct registered){.name = name, .type = type, .of_threads = true, .offset = offset});
}

int pth_schedvar_register(const char *name, catapults_int *variable) {
    return of_scheduler(name, CATAPULTS_IMPORT_INT, variable);
}

int pth_schedvar_register_bool(const char *name, bool *variable) {
    return of_scheduler(name, CATAPULTS_IMPORT_BOOL, variable);
}

int pth_schedvar_register_time(const char *name, catapults_time *nanoseconds) {
    return of_scheduler(name, CATAPULTS_IMPORT_TIME, nanoseconds);
}

int pth_schedvar_register_float(const char *name, double *variable) {
    return of_scheduler(name, CATAPULTS_IMPORT_FLOAT, variable);
}

int pth_threadvar_register(const char *name, size_t offset) { return of_threads(name, CATAPULTS_IMPORT_INT, offset); }

int pth_threadvar_register_bool(const char *name, size_t offset) {
    return of_threads(name, CATAPULTS_IMPORT_BOOL, offset);
}

int pth_threadvar_register_time(const char *name, size_t offset) {
    return of_threads(name, CATAPULTS_IMPORT_TIME, offset);
}

int pth_threadvar_register_float(const char *name, size_t offset) {
    return of_threads(name, CATAPULTS_IMPORT_FLOAT, offset);
}

int pth_threadvar_object(pth_t thread, void *object) {
    if (!shim.policy)
        return TRUE;
    struct record *record = record_of(thread);
    if (!record) {
        errno = ESRCH;
        return FALSE;
    }
    record->object = object;
    imports_link(record);
    policy_changed(record);
    settle();
    return TRUE;
}
