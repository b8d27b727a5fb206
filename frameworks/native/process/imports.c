/*
 * Variables of the application that policies import (2005, §5.2). Generated code reads them through pointers in its
 * instance and in its part of each thread. Registering a variable sets these pointers. What was registered is
 * remembered for schedulers that come later.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "contexts/memory.h"
#include "contexts/text.h"
#include "process/face.h"
#include "process/imports.h"
#include "process/report.h"
#include "process/runtime.h"
#include "process/scheduler_handle.h"

/* What the application has registered. */
struct variable {
    const char *name;
    int type;
    bool member;   /* of each thread's object */
    void *address; /* else */
    size_t offset; /* of a member, in the object */
    struct variable *next;
};

/* A member of each thread's object that a policy imports. */
struct linked {
    const struct catapults_import *import;
    const struct variable *variable;
    struct linked *next;
};

static struct variable *variables;

static const char *const types[] = {[CATAPULTS_IMPORT_INT] = "int",
                                    [CATAPULTS_IMPORT_BOOL] = "bool",
                                    [CATAPULTS_IMPORT_TIME] = "time",
                                    [CATAPULTS_IMPORT_FLOAT] = "float"};

static int check(const struct catapults_scheduler *scheduler, const struct variable *variable, bool *imported);
static int remember(const struct variable *variable, struct variable **kept);
static int link_scheduler(struct catapults_scheduler *scheduler, const struct variable *variable);
static bool set_values(struct dispatcher_thread *member, const struct catapults_value *values, size_t count);
static void link_one(struct member *thread, const struct linked *one);
static bool link_deadline(struct member *thread);
static void report_unknown(const char *name);

/* ---- Registering ------------------------------------------------------------------------------------------------- */

static int register_variable(const struct variable *variable) {
    dispatcher_enter();
    bool imported = false;
    int error = 0;
    struct scheduler *scheduler;
    for (scheduler = dispatcher_root(); scheduler && error == 0; scheduler = dispatcher_next_scheduler(scheduler))
        error = check(scheduler_handle(scheduler), variable, &imported);
    if (!imported && error == 0 && runtime.strict_imports)
        report_unknown(variable->name);
    struct variable *kept;
    if (error == 0)
        error = remember(variable, &kept);
    for (scheduler = dispatcher_root(); scheduler && error == 0; scheduler = dispatcher_next_scheduler(scheduler))
        error = link_scheduler(scheduler_handle(scheduler), kept);
    if (error == 0 && variable->member) {
        for (struct dispatcher_thread *t = dispatcher_first_thread(); t; t = dispatcher_next_thread(t)) {
            imports_link(member_of(t));
            if (member_of(t)->object && imports_find(t->scheduler->policy, true, variable->name))
                dispatcher_tell_changed(t);
        }
        dispatcher_unblocked();
    }
    dispatcher_leave();
    return error ? error : imported ? 0 : ENOENT;
}

/* How long a thread or a scheduler has run, when a thread's job was released, its ceiling; and what the interface says.
 */
bool imports_is_kept(const struct catapults_import *import, bool per_thread) {
    if (per_thread && runtime.face->keeps && runtime.face->keeps(import->name))
        return true;
    if (import->type == CATAPULTS_IMPORT_TIME)
        return text_equal(import->name, "consumed") || (per_thread && text_equal(import->name, "release"));
    return per_thread && import->type == CATAPULTS_IMPORT_INT && text_equal(import->name, "ceiling");
}

/* Whether the scheduler's policy imports it, and with the type that is registered. */
static int check(const struct catapults_scheduler *scheduler, const struct variable *variable, bool *imported) {
    const struct catapults_policy *policy = scheduler->policy;
    const struct catapults_import *import = imports_find(policy, variable->member, variable->name);
    if (!import)
        return 0;
    *imported = true;
    if ((int)import->type != variable->type) {
        runtime_report("the policy %s imports `%s` as %s, the application registers it as %s; declare it alike in %s "
                       "and in the application",
                       policy->name, import->name, types[import->type], types[variable->type], policy->source);
        return EINVAL;
    }
    if (imports_is_kept(import, variable->member)) {
        runtime_report("the application registers `%s`, which the runtime itself keeps for the policy %s; rename one",
                       import->name, policy->name);
        return EEXIST;
    }
    return 0;
}

static int remember(const struct variable *variable, struct variable **kept) {
    struct variable *one = variables;
    while (one && (one->member != variable->member || !text_equal(one->name, variable->name)))
        one = one->next;
    if (!one) {
        size_t length = text_length(variable->name) + 1;
        one = memory_take(sizeof *one + length);
        if (!one)
            return ENOMEM;
        one->name = memcpy(one + 1, variable->name, length);
        one->member = variable->member;
        one->next = variables;
        variables = one;
    }
    one->type = variable->type;
    one->address = variable->address;
    one->offset = variable->offset;
    *kept = one;
    return 0;
}

static void report_unknown(const char *name) {
    const struct catapults_policy *policy = scheduler_root.policy;
    const struct scheduler *next = dispatcher_next_scheduler(dispatcher_root());
    bool alone = !next || next->host == &scheduler_root;
    runtime_report("%s%s has no import `%s`, which the application registers; declare it in %s, or turn strict imports "
                   "off (CATAPULTS_STRICT_IMPORTS)",
                   alone ? "the policy " : "the hierarchy, that of the policy ", policy->name, name,
                   alone ? policy->source : "one of its policies");
    exit(EXIT_FAILURE);
}

int catapults_schedvar_register(const char *name, catapults_int *variable) {
    return register_variable(&(struct variable){.name = name, .type = CATAPULTS_IMPORT_INT, .address = variable});
}

int catapults_schedvar_register_bool(const char *name, bool *variable) {
    return register_variable(&(struct variable){.name = name, .type = CATAPULTS_IMPORT_BOOL, .address = variable});
}

int catapults_schedvar_register_time(const char *name, catapults_time *nanoseconds) {
    return register_variable(&(struct variable){.name = name, .type = CATAPULTS_IMPORT_TIME, .address = nanoseconds});
}

int catapults_schedvar_register_float(const char *name, double *variable) {
    return register_variable(&(struct variable){.name = name, .type = CATAPULTS_IMPORT_FLOAT, .address = variable});
}

static int register_member(const char *name, int type, size_t offset) {
    return register_variable(&(struct variable){.name = name, .type = type, .member = true, .offset = offset});
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

/* ---- Linking ----------------------------------------------------------------------------------------------------- */

/* Whether its policy is still the one that it was given: the built-in FIFO imports nothing. */
static bool in_force(const struct catapults_scheduler *scheduler) {
    return scheduler->dispatched->policy == scheduler->policy;
}

char *imports_of(const struct scheduler *scheduler) {
    return scheduler->shared ? scheduler->shared : scheduler->instance;
}

static int link_scheduler(struct catapults_scheduler *scheduler, const struct variable *variable) {
    const struct catapults_import *import = imports_find(scheduler->policy, variable->member, variable->name);
    if (!import)
        return 0;
    if (!variable->member) {
        if (in_force(scheduler))
            *(void **)(imports_of(scheduler->dispatched) + import->pointer) = variable->address;
        return 0;
    }
    for (const struct linked *one = scheduler->linked; one; one = one->next)
        if (one->import == import)
            return 0;
    struct linked *one = memory_take(sizeof *one);
    if (!one)
        return ENOMEM;
    *one = (struct linked){.import = import, .variable = variable, .next = scheduler->linked};
    scheduler->linked = one;
    return 0;
}

void imports_link(struct member *thread) {
    const struct catapults_scheduler *scheduler = scheduler_handle(thread->dispatched.scheduler);
    const struct catapults_attributes *attributes = thread->attributes;
    thread->attributes = NULL;
    if (!in_force(scheduler))
        return;
    for (const struct linked *one = scheduler->linked; one; one = one->next)
        link_one(thread, one);
    if (thread->period > 0)
        imports_link_job(thread, false);
    if (runtime.face->values) {
        struct catapults_value values[FACE_VALUES];
        set_values(&thread->dispatched, values, runtime.face->values(thread, values));
    }
    if (attributes && attributes->values_count > 0)
        set_values(&thread->dispatched, attributes->values, attributes->values_count);
    if (thread->period > 0)
        link_deadline(thread); /* they may have a period */
    if (thread->has_ceiling)
        imports_link_ceiling(thread);
}

static void link_one(struct member *thread, const struct linked *one) {
    char *t = (char *)&thread->dispatched.policy;
    void *variable = thread->object ? (char *)thread->object + one->variable->offset : t + one->import->fallback;
    *(void **)(t + one->import->pointer) = variable;
}

bool imports_has_ceiling(const struct member *thread) {
    const struct catapults_scheduler *scheduler = scheduler_handle(thread->dispatched.scheduler);
    return in_force(scheduler) && scheduler->ceiling;
}

void imports_link_ceiling(struct member *thread) {
    const struct catapults_scheduler *scheduler = scheduler_handle(thread->dispatched.scheduler);
    const struct catapults_import *import = scheduler->ceiling;
    if (!import || !in_force(scheduler))
        return;
    char *t = (char *)&thread->dispatched.policy;
    *(void **)(t + import->pointer) = thread->has_ceiling ? (char *)&thread->ceiling : t + import->fallback;
}

static bool set_time(struct member *thread, const struct catapults_import *import, const char *name, int64_t time) {
    struct catapults_value value = catapults_value_time(name, time);
    return import && set_values(&thread->dispatched, &value, 1);
}

/* A job is due when the next one is released, unless the application says something else: if the policy took an
 * import's 0 for a deadline, it would prefer the thread for ever. */
static bool link_deadline(struct member *thread) {
    const struct catapults_scheduler *scheduler = scheduler_handle(thread->dispatched.scheduler);
    const char *t = (const char *)&thread->dispatched.policy;
    if (!scheduler->deadline)
        return false;
    catapults_time said = *(const catapults_time *)(t + scheduler->deadline->fallback);
    if (said > 0 && said != thread->deadline)
        return false;
    thread->deadline = scheduler->period ? *(const catapults_time *)(t + scheduler->period->fallback) : thread->period;
    return set_time(thread, scheduler->deadline, "deadline", thread->deadline);
}

bool imports_link_job(struct member *thread, bool anew) {
    const struct catapults_scheduler *scheduler = scheduler_handle(thread->dispatched.scheduler);
    if (!in_force(scheduler))
        return false;
    char *t = (char *)&thread->dispatched.policy;
    if (scheduler->release)
        *(void **)(t + scheduler->release->pointer) =
            thread->period > 0 ? (char *)&thread->release : t + scheduler->release->fallback;
    bool told = scheduler->period && (anew || *(catapults_time *)(t + scheduler->period->fallback) <= 0);
    bool changed = told && set_time(thread, scheduler->period, "period", thread->period);
    return link_deadline(thread) || changed;
}

/* ---- Values of threads ------------------------------------------------------------------------------------------- */

_Static_assert((int)CATAPULTS_VALUE_INT == CATAPULTS_IMPORT_INT && (int)CATAPULTS_VALUE_BOOL == CATAPULTS_IMPORT_BOOL &&
                   (int)CATAPULTS_VALUE_TIME == CATAPULTS_IMPORT_TIME &&
                   (int)CATAPULTS_VALUE_FLOAT == CATAPULTS_IMPORT_FLOAT,
               "a value has the type of the import that it is for");

int imports_check_values(const struct catapults_scheduler *scheduler, const struct catapults_value *values,
                         size_t count) {
    const struct catapults_policy *policy = scheduler->policy;
    for (size_t i = 0; i < count; i++) {
        struct variable variable = {.name = values[i].name, .type = (int)values[i].type, .member = true};
        bool imported = false;
        if (check(scheduler, &variable, &imported) != 0)
            return EINVAL;
        if (!imported && runtime.strict_imports) {
            runtime_report("the policy %s has no per-thread import `%s`, of which the application gives a value; "
                           "declare it in %s, or turn strict imports off (CATAPULTS_STRICT_IMPORTS)",
                           policy->name, values[i].name, policy->source);
            exit(EXIT_FAILURE);
        }
    }
    return 0;
}

bool imports_set_values(struct member *thread, const struct catapults_value *values, size_t count) {
    return in_force(scheduler_handle(thread->dispatched.scheduler)) && set_values(&thread->dispatched, values, count);
}

int catapults_scheduler_set_values(catapults_scheduler_t scheduler, const struct catapults_value *values,
                                   size_t count) {
    dispatcher_enter();
    const struct catapults_scheduler *parent = scheduler_handle(scheduler->dispatched->parent);
    int error = parent ? imports_check_values(parent, values, count) : EINVAL;
    if (error == 0 && in_force(parent)) {
        for (struct dispatcher_thread *one = &scheduler->dispatched->record; one; one = dispatcher_next_record(one))
            if (in_force(parent) && set_values(one, values, count))
                dispatcher_tell_changed(one);
        dispatcher_unblocked();
    }
    dispatcher_leave();
    return error;
}

static const size_t sizes[] = {[CATAPULTS_IMPORT_INT] = sizeof(catapults_int),
                               [CATAPULTS_IMPORT_BOOL] = sizeof(bool),
                               [CATAPULTS_IMPORT_TIME] = sizeof(catapults_time),
                               [CATAPULTS_IMPORT_FLOAT] = sizeof(double)};

/* The values have been checked. The policy reads them where it would find its defaults. Returns whether one has
 * changed. */
static bool set_values(struct dispatcher_thread *member, const struct catapults_value *values, size_t count) {
    bool changed = false;
    for (size_t i = 0; i < count; i++) {
        const struct catapults_import *import = imports_find(member->scheduler->policy, true, values[i].name);
        if (!import || (int)import->type != (int)values[i].type)
            continue;
        void *place = (char *)&member->policy + import->fallback;
        changed |= memcmp(place, &values[i].is, sizes[import->type]) != 0;
        memcpy(place, &values[i].is, sizes[import->type]);
    }
    return changed;
}

struct catapults_value *imports_values(const struct dispatcher_thread *member, size_t *count) {
    const struct catapults_scheduler *scheduler = scheduler_handle(member->scheduler);
    const struct catapults_policy *policy = scheduler->policy;
    *count = 0;
    if (!in_force(scheduler) || policy->thread_imports_count == 0)
        return NULL;
    struct catapults_value *values = memory_take(policy->thread_imports_count * sizeof *values);
    for (uint32_t i = 0; values && i < policy->thread_imports_count; i++) {
        const struct catapults_import *import = &policy->thread_imports[i];
        if (imports_is_kept(import, true))
            continue;
        struct catapults_value *value = &values[(*count)++];
        const void *place = (const char *)&member->policy + import->fallback;
        value->name = import->name;
        value->type = (enum catapults_value_type)import->type;
        switch (import->type) {
        case CATAPULTS_IMPORT_INT:
            value->is.integer = *(const catapults_int *)place;
            break;
        case CATAPULTS_IMPORT_BOOL:
            value->is.boolean = *(const bool *)place;
            break;
        case CATAPULTS_IMPORT_TIME:
            value->is.nanoseconds = *(const catapults_time *)place;
            break;
        case CATAPULTS_IMPORT_FLOAT:
            value->is.real = *(const double *)place;
            break;
        }
    }
    return values;
}

/* ---- Schedulers -------------------------------------------------------------------------------------------------- */

static int check_parameter(const struct catapults_scheduler *scheduler,
                           const struct catapults_hierarchy_parameter *parameter) {
    const struct scheduler *parent = scheduler->dispatched->parent;
    const struct catapults_policy *policy = scheduler->policy;
    if (parameter->at_parent)
        policy = parent ? scheduler_handle(parent)->policy : NULL;
    const struct catapults_import *import = policy ? imports_find(policy, parameter->at_parent, parameter->name) : NULL;
    const char *what = parameter->at_parent ? "threadimports" : "imports";
    if (!policy)
        runtime_report("the scheduler %s has no parent for its parameter `%s`; name a parent, or leave it out",
                       scheduler->name, parameter->name);
    else if (!import)
        runtime_report(
            "the policy %s has no `%s` in its %s, which is a parameter of the scheduler %s; declare it in %s",
            policy->name, parameter->name, what, scheduler->name, policy->source);
    else if (import->type != parameter->type)
        runtime_report(
            "the policy %s has `%s` in its %s as %s, the scheduler %s has the parameter as %s; make them alike",
            policy->name, parameter->name, what, types[import->type], scheduler->name, types[parameter->type]);
    else if (imports_is_kept(import, parameter->at_parent))
        runtime_report(
            "the scheduler %s has a parameter `%s`, which the runtime itself keeps for the policy %s; rename "
            "one",
            scheduler->name, parameter->name, policy->name);
    else
        return 0;
    return EINVAL;
}

int imports_check_parameters(const struct catapults_scheduler *scheduler) {
    int error = 0;
    for (uint32_t i = 0; i < scheduler->parameters_count && error == 0; i++)
        error = check_parameter(scheduler, &scheduler->parameters[i]);
    return error;
}

/* A per-thread import of this name and type. */
static const struct catapults_import *find_typed(const struct catapults_policy *policy, const char *name, int type) {
    const struct catapults_import *import = imports_find(policy, true, name);
    return import && (int)import->type == type ? import : NULL;
}

int imports_prepare(struct catapults_scheduler *scheduler) {
    int error = 0;
    bool imported;
    scheduler->ceiling = find_typed(scheduler->policy, "ceiling", CATAPULTS_IMPORT_INT);
    scheduler->release = find_typed(scheduler->policy, "release", CATAPULTS_IMPORT_TIME);
    scheduler->period = find_typed(scheduler->policy, "period", CATAPULTS_IMPORT_TIME);
    scheduler->deadline = find_typed(scheduler->policy, "deadline", CATAPULTS_IMPORT_TIME);
    for (const struct variable *one = variables; one && error == 0; one = one->next) {
        error = check(scheduler, one, &imported);
        if (error == 0 && one->member)
            error = link_scheduler(scheduler, one);
    }
    if (error)
        imports_release(scheduler);
    return error;
}

void imports_release(struct catapults_scheduler *scheduler) {
    while (scheduler->linked) {
        struct linked *one = scheduler->linked;
        scheduler->linked = one->next;
        memory_give(one);
    }
}

/* `base`: the instance, or the record at the parent. */
static void set_parameters(const struct catapults_scheduler *scheduler, const struct catapults_policy *policy,
                           bool at_parent, char *base) {
    for (uint32_t i = 0; i < scheduler->parameters_count; i++) {
        const struct catapults_hierarchy_parameter *parameter = &scheduler->parameters[i];
        if (parameter->at_parent != at_parent)
            continue;
        const struct catapults_import *import = imports_find(policy, at_parent, parameter->name);
        if (!import || import->type != parameter->type)
            continue;
        void *place = base + import->fallback;
        switch (import->type) {
        case CATAPULTS_IMPORT_INT:
        case CATAPULTS_IMPORT_TIME:
            *(int64_t *)place = parameter->value.integer;
            break;
        case CATAPULTS_IMPORT_BOOL:
            *(bool *)place = parameter->value.integer != 0;
            break;
        case CATAPULTS_IMPORT_FLOAT:
            *(double *)place = parameter->value.real;
            break;
        }
    }
}

void imports_started(struct catapults_scheduler *scheduler) {
    set_parameters(scheduler, scheduler->policy, false, imports_of(scheduler->dispatched));
    for (const struct variable *one = variables; one; one = one->next)
        if (!one->member)
            link_scheduler(scheduler, one);
}

/* Another record of a scheduler gets the values that its first one has now. */
static void copy_values(const struct dispatcher_thread *from, struct dispatcher_thread *to) {
    const struct catapults_policy *policy = to->scheduler->policy;
    for (uint32_t i = 0; i < policy->thread_imports_count; i++) {
        const struct catapults_import *import = &policy->thread_imports[i];
        if (import != to->scheduler->consumed)
            memcpy((char *)&to->policy + import->fallback, (const char *)&from->policy + import->fallback,
                   sizes[import->type]);
    }
}

void imports_adopted(struct dispatcher_thread *record) {
    const struct scheduler *scheduler = scheduler_of(record);
    const struct catapults_scheduler *handle = scheduler_handle(scheduler);
    /* If the scheduler is leaving, the first may have ended, and be as another policy has left it. */
    if (record != &scheduler->record && scheduler->record.state != THREAD_ENDED) {
        copy_values(&scheduler->record, record);
        return;
    }
    set_parameters(handle, scheduler->parent->policy, true, (char *)&record->policy);
    set_values(record, handle->kept, handle->kept_count);
}

const struct catapults_import *imports_find(const struct catapults_policy *policy, bool per_thread, const char *name) {
    const struct catapults_import *imports = per_thread ? policy->thread_imports : policy->imports;
    uint32_t count = per_thread ? policy->thread_imports_count : policy->imports_count;
    for (uint32_t i = 0; i < count; i++)
        if (text_equal(imports[i].name, name))
            return &imports[i];
    return NULL;
}
