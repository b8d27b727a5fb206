/*
 * Schedulers, as the application knows them.
 */
#include <errno.h>

#include "contexts/memory.h"
#include "contexts/text.h"
#include "core/builtin.h"
#include "process/imports.h"
#include "process/load.h"
#include "process/report.h"
#include "process/runtime.h"
#include "process/scheduler_handle.h"

struct catapults_scheduler scheduler_root;
struct catapults_scheduler *scheduler_default;

/* Room for attributes that every thread's record has at least, so that policies of usual size can come later. */
enum { ROOM = 256 };

static struct catapults_scheduler *find(const char *name);
static int add(struct catapults_scheduler **result, const struct catapults_scheduler_attributes *attributes,
               const struct catapults_policy *policy, struct refusal *refusal);
static void widen(struct catapults_scheduler *scheduler, int processors);
static void free_scheduler(struct catapults_scheduler *scheduler);

size_t scheduler_member_size(const struct catapults_policy *policy) {
    size_t size = dispatcher_thread_size(policy), least = offsetof(struct dispatcher_thread, policy) + ROOM;
    return (offsetof(struct member, dispatched) + (size > least ? size : least) + 63) & ~(size_t)63;
}

/* ---- Looking ----------------------------------------------------------------------------------------------------- */

catapults_scheduler_t catapults_scheduler_find(const char *name) {
    dispatcher_enter();
    struct catapults_scheduler *scheduler = find(name);
    dispatcher_leave();
    return scheduler;
}

static struct catapults_scheduler *find(const char *name) {
    struct scheduler *scheduler = dispatcher_root();
    while (scheduler && (scheduler->removed || !text_equal(scheduler_handle(scheduler)->name, name)))
        scheduler = dispatcher_next_scheduler(scheduler);
    return scheduler_handle(scheduler);
}

catapults_scheduler_t catapults_scheduler_root(void) { return &scheduler_root; }

catapults_scheduler_t catapults_scheduler_self(void) {
    dispatcher_enter(); /* another processor may give the caller another instance */
    struct catapults_scheduler *scheduler = scheduler_handle(member_self()->dispatched.scheduler);
    dispatcher_leave();
    return scheduler;
}

catapults_scheduler_t catapults_scheduler_parent(catapults_scheduler_t scheduler) {
    return scheduler_handle(scheduler->dispatched->parent);
}

const char *catapults_scheduler_name(catapults_scheduler_t scheduler) { return scheduler->name; }

const char *catapults_scheduler_policy_name(catapults_scheduler_t scheduler) {
    dispatcher_enter();
    const char *name = scheduler->dispatched->policy->name;
    dispatcher_leave();
    return name;
}

/* ---- Coming and going -------------------------------------------------------------------------------------------- */

int catapults_scheduler_add(catapults_scheduler_t *result, const struct catapults_scheduler_attributes *attributes) {
    if (!runtime.started)
        return EPERM;
    struct member *self = member_self();
    self->refusal.text = NULL;
    if (!attributes->name || !*attributes->name || text_length(attributes->name) >= CATAPULTS_NAME_SIZE)
        return EINVAL;
    const struct catapults_policy *policy;
    int error = policy_load(attributes->policy, false, &policy, NULL);
    if (error)
        return error;
    dispatcher_enter();
    struct scheduler *removed;
    while ((removed = dispatcher_take_removed()))
        free_scheduler(scheduler_handle(removed));
    error = find(attributes->name) ? EEXIST : add(result, attributes, policy, &self->refusal);
    dispatcher_unblocked();
    dispatcher_leave();
    return error;
}

/* `policy` NULL: the built-in FIFO. */
static int add(struct catapults_scheduler **result, const struct catapults_scheduler_attributes *attributes,
               const struct catapults_policy *policy, struct refusal *refusal) {
    struct scheduler *parent = attributes->parent ? attributes->parent->dispatched : dispatcher_root();
    size_t size = dispatcher_scheduler_size(parent), least = offsetof(struct scheduler, record.policy) + ROOM;
    if (size < least)
        size = least;
    struct catapults_scheduler *scheduler = memory_take(sizeof *scheduler);
    struct scheduler *dispatched = memory_take(size);
    void *instance = policy ? policy_instance(policy) : NULL;
    if (!scheduler || !dispatched || (policy && !instance)) {
        memory_give(scheduler);
        memory_give(dispatched);
        memory_give(instance);
        return ENOMEM;
    }
    dispatched->host = scheduler;
    dispatched->parent = parent;
    dispatched->record.room = (uint32_t)(size - offsetof(struct scheduler, record.policy));
    scheduler->dispatched = dispatched;
    scheduler->instance = instance;
    scheduler->policy = policy ? policy : &dispatcher_builtin;
    scheduler->parameters = attributes->parameters;
    scheduler->parameters_count = attributes->parameters_count;
    text_format(scheduler->name, sizeof scheduler->name, "%s", attributes->name);
    int error = imports_check_parameters(scheduler);
    if (error == 0)
        error = imports_prepare(scheduler);
    if (error) {
        free_scheduler(scheduler);
        return error;
    }
    runtime_make_room(scheduler->policy);
    const struct catapults_stop *stop =
        dispatcher_add(dispatched, parent, scheduler->name, scheduler->policy, instance);
    if (stop) {
        refusal_keep(refusal, stop);
        free_scheduler(scheduler);
        return EAGAIN;
    }
    if (runtime.several)
        widen(scheduler, runtime.processors);
    if (result)
        *result = scheduler;
    return 0;
}

/* One more of the threads that a scheduler is to its parent. */
struct extra_record {
    struct extra_record *next;
    _Alignas(16) struct dispatcher_thread record; /* last */
};

/* For each processor: one that runs, and some whose turns wait. */
enum { RECORDS_PER_PROCESSOR = 4 };

/* Gives a scheduler more records. Without memory it stays as it is. */
static void widen(struct catapults_scheduler *scheduler, int processors) {
    struct scheduler *dispatched = scheduler->dispatched;
    size_t size = offsetof(struct extra_record, record.policy) + dispatched->record.room;
    for (int i = 0; i < processors * RECORDS_PER_PROCESSOR; i++) {
        struct extra_record *extra = memory_take(size);
        if (!extra)
            return;
        extra->record.room = dispatched->record.room;
        extra->next = scheduler->records;
        scheduler->records = extra;
        dispatcher_give_record(dispatched, &extra->record);
    }
}

void schedulers_widen(void) {
    for (struct scheduler *one = dispatcher_root(); one; one = dispatcher_next_scheduler(one))
        if (one->parent && !one->removed)
            widen(scheduler_handle(one), 1);
}

static void free_scheduler(struct catapults_scheduler *scheduler) {
    for (struct extra_record *extra; (extra = scheduler->records);) {
        scheduler->records = extra->next;
        memory_give(extra);
    }
    imports_release(scheduler);
    memory_give(scheduler->dispatched);
    memory_give(scheduler->instance);
    memory_give(scheduler);
}

int schedulers_add(const struct catapults_hierarchy *hierarchy) {
    struct catapults_scheduler **added = memory_take(hierarchy->nodes_count * sizeof(struct catapults_scheduler *));
    int error = added ? 0 : ENOMEM;
    for (uint32_t i = 0; i < hierarchy->nodes_count && error == 0; i++) {
        const struct catapults_hierarchy_node *node = &hierarchy->nodes[i];
        struct refusal refusal;
        added[i] = &scheduler_root;
        if (i > 0)
            error = add(&added[i],
                        &(struct catapults_scheduler_attributes){.name = node->name,
                                                                 .parent = added[node->parent],
                                                                 .parameters = node->parameters,
                                                                 .parameters_count = node->parameters_count},
                        node->policy, &refusal);
        if (error == EAGAIN)
            runtime_report("the policy %s refuses the scheduler %s of %s: %s", added[node->parent]->policy->name,
                           node->name, hierarchy->source, refusal.text);
        if (error == 0 && i == hierarchy->default_node)
            scheduler_default = added[i];
    }
    memory_give(added);
    return error;
}

int catapults_scheduler_remove(catapults_scheduler_t scheduler) {
    dispatcher_enter();
    int error = scheduler == scheduler_default ? EINVAL : dispatcher_remove(scheduler->dispatched);
    dispatcher_unblocked();
    dispatcher_leave();
    return error;
}

int catapults_scheduler_attach(catapults_scheduler_t scheduler) {
    struct member *self = member_self();
    self->refusal.text = NULL;
    dispatcher_enter();
    const struct catapults_stop *stop = NULL;
    void *room = memory_take(self->dispatched.room);
    int error = room ? 0 : ENOMEM;
    if (room && scheduler->dispatched->policy->thread_size > self->dispatched.room)
        error = ENOSPC;
    if (error == 0)
        stop = dispatcher_attach(scheduler->dispatched, room);
    memory_give(room);
    if (stop)
        refusal_keep(&self->refusal, stop);
    dispatcher_leave();
    return stop ? EAGAIN : error;
}

/* ---- Replacing --------------------------------------------------------------------------------------------------- */

static void free_nodes(void **nodes, uint32_t count) {
    for (uint32_t i = 0; nodes && i < count; i++)
        memory_give(nodes[i]);
    memory_give(nodes);
}

/* Takes memory for the policy's nodes, one for each processor but the first. NULL: there is none. */
static void **make_nodes(const struct catapults_policy *policy) {
    uint32_t count = dispatcher_processors();
    size_t size = dispatcher_node_size(policy);
    void **nodes = memory_take((count + 1) * sizeof *nodes);
    for (uint32_t i = 1; nodes && i < count && size; i++) {
        nodes[i] = memory_take(size);
        if (!nodes[i]) {
            free_nodes(nodes, count);
            return NULL;
        }
    }
    return nodes;
}

static int replace_in(struct catapults_scheduler *scheduler, const struct catapults_policy *policy, void *instance,
                      void *const *nodes, struct refusal *refusal) {
    unsigned long size;
    if (!dispatcher_has_room(scheduler->dispatched, policy, &size))
        return ENOSPC;
    void *parts = memory_take(size);
    int error = parts ? imports_prepare(scheduler) : ENOMEM;
    if (error == 0) {
        const struct catapults_stop *stop = dispatcher_replace(scheduler->dispatched, policy, instance, nodes, parts);
        if (stop)
            refusal_keep(refusal, stop);
        error = stop ? EAGAIN : 0;
    }
    memory_give(parts);
    return error;
}

/* Whether no schedulers are under the root; its policy may have several instances. */
static bool is_alone(void) {
    for (const struct scheduler *one = dispatcher_root(); one; one = dispatcher_next_scheduler(one))
        if (one->host != &scheduler_root)
            return false;
    return true;
}

static int replace(struct catapults_scheduler *scheduler, const struct catapults_policy *policy, void *instance,
                   struct refusal *refusal) {
    bool is_root = scheduler == &scheduler_root;
    if (is_root && (policy->shared_size || dispatcher_policy()->shared_size) && !is_alone())
        return ENOTSUP;
    uint32_t count = is_root ? dispatcher_processors() : 0; /* those whose instances are replaced */
    void **nodes = make_nodes(policy), **old = memory_take((count + 1) * sizeof *old);
    struct catapults_scheduler before = *scheduler;
    scheduler->policy = policy;
    scheduler->instance = instance;
    scheduler->linked = NULL;
    for (uint32_t i = 1; old && i < count; i++)
        old[i] = dispatcher_node_of(dispatcher_processor_at(i));
    int error = nodes && old ? replace_in(scheduler, policy, instance, nodes, refusal) : ENOMEM;
    imports_release(error ? scheduler : &before);
    free_nodes(error ? nodes : old, count);
    memory_give(error ? old : nodes);
    if (error) {
        *scheduler = before;
        return error;
    }
    memory_give(before.instance);
    runtime_make_room(policy);
    return 0;
}

/* By an instance of its own. The caller calls dispatcher_unblocked if this returns 0. */
static int replace_by(struct catapults_scheduler *scheduler, const struct catapults_policy *policy,
                      struct refusal *refusal) {
    void *instance = policy ? policy_instance(policy) : NULL;
    if (policy && !instance)
        return ENOMEM;
    int error = replace(scheduler, policy ? policy : &dispatcher_builtin, instance, refusal);
    if (error)
        memory_give(instance);
    return error;
}

int scheduler_replace_root(const struct catapults_policy *policy, struct refusal *refusal) {
    return replace_by(&scheduler_root, policy, refusal);
}

int catapults_policy_replace(catapults_scheduler_t scheduler, const char *file) {
    if (!runtime.started)
        return EPERM;
    struct member *self = member_self();
    self->refusal.text = NULL;
    if (!scheduler)
        scheduler = &scheduler_root;
    const struct catapults_policy *policy;
    int error = policy_load(file, scheduler == &scheduler_root, &policy, NULL);
    if (error)
        return error;
    dispatcher_enter();
    error = replace_by(scheduler, policy, &self->refusal);
    if (error == 0)
        dispatcher_unblocked();
    dispatcher_leave();
    return error;
}
