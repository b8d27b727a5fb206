/*
 * Replaces a policy while its threads go on. The old policy keeps all it has until the new one has taken every thread.
 * If the new policy refuses one, the old policy goes on as if nothing had happened.
 */
#include "core/clock.h"
#include "core/frames.h"
#include "core/in_force.h"
#include "core/nodes.h"
#include "core/outside.h"
#include "core/raise.h"
#include "core/replace.h"
#include "core/running_frames.h"

static const struct catapults_stop *take_all(struct processor *here, struct scheduler *scheduler,
                                             const struct scheduler *before, const char *parts);
static const struct catapults_stop *take(struct processor *here, struct scheduler *scheduler,
                                         const struct scheduler *before, struct dispatcher_thread *member,
                                         const char *part, const char *new);
static void give_back(struct dispatcher_thread *member, const char *part);
static void hand_on(struct dispatcher_thread *member, const struct scheduler *before, const char *part,
                    const char *new);
static struct dispatcher_thread *first(struct processor *here, const struct scheduler *scheduler);
static struct dispatcher_thread *next(struct processor *here, const struct scheduler *scheduler,
                                      struct dispatcher_thread *member);
static void copy(void *to, const void *from, unsigned long size);
static bool have_room_for_nodes(struct processor *here, const struct catapults_policy *policy, unsigned long *parts);
static const struct catapults_stop *replace_nodes(struct processor *here, const struct catapults_policy *policy,
                                                  void *instance, void *const *nodes, char *parts);

/* Whether the old policy or the new one has an instance for each processor. */
static bool are_nodes(const struct scheduler *scheduler, const struct catapults_policy *policy) {
    return scheduler->node || policy->shared_size;
}

bool core_has_room(struct processor *here, const struct scheduler *scheduler, const struct catapults_policy *policy,
                   unsigned long *parts) {
    if (UNLIKELY(are_nodes(scheduler, policy)))
        return have_room_for_nodes(here, policy, parts);
    bool has = true;
    *parts = scheduler->policy->thread_size; /* for a thread like new ones */
    for (struct dispatcher_thread *member = first(here, scheduler); member; member = next(here, scheduler, member)) {
        has = has && policy->thread_size <= member->room;
        *parts += scheduler->policy->thread_size;
    }
    return has;
}

const struct catapults_stop *core_replace(struct processor *here, struct scheduler *scheduler,
                                          const struct catapults_policy *policy, void *instance, void *const *nodes,
                                          void *parts) {
    struct core *core = here->core;
    if (UNLIKELY(are_nodes(scheduler, policy)))
        return replace_nodes(here, policy, instance, nodes, parts);
    unsigned long size = scheduler->policy->thread_size;
    tell(here, scheduler, true);                /* what has passed until now is still charged */
    const struct scheduler before = *scheduler; /* without its record, whose attributes are not in it */
    char *part = parts;
    scheduler->policy->adopt(scheduler->instance, parts);
    for (struct dispatcher_thread *member = first(here, scheduler); member; member = next(here, scheduler, member))
        copy(part += size, &member->policy, size);

    core_put_in_force(here, scheduler, policy, instance ? instance : scheduler->builtin);
    policy->start(scheduler->instance);
    core_seed(core, scheduler, scheduler->instance);
    core_running_frames_start(here, scheduler);
    core_clock_start(here, scheduler);
    if (core->host->scheduler_started)
        core->host->scheduler_started(scheduler);
    const struct catapults_stop *stop = scheduler->handlers.init ? RAISE_INIT(scheduler) : NULL;
    if (!stop)
        stop = take_all(here, scheduler, &before, parts);
    if (stop) {
        core_put_in_force(here, scheduler, before.policy, before.instance);
        scheduler->frames = before.frames;
        scheduler->frame_size = before.frame_size;
        scheduler->frame = before.frame;
        core_clock_start(here, scheduler);
        part = parts;
        for (struct dispatcher_thread *member = first(here, scheduler); member; member = next(here, scheduler, member))
            give_back(member, part += size);
        return stop;
    }
    /* What is not RUNNABLE was suspended, and is to be resumed, whatever it waits for. */
    for (struct dispatcher_thread *member = first(here, scheduler); member; member = next(here, scheduler, member)) {
        if (member->state == THREAD_BLOCKED)
            member->set_aside = true;
    }
    scheduler->idle = scheduler->asked_for = false;
    if (core->several)
        core_end_turns_under(here, scheduler);
    return NULL;
}

static const struct catapults_stop *take_all(struct processor *here, struct scheduler *scheduler,
                                             const struct scheduler *before, const char *parts) {
    const struct catapults_stop *stop = NULL;
    const char *part = parts, *new = parts;
    for (struct dispatcher_thread *member = first(here, scheduler); member && !stop;
         member = next(here, scheduler, member)) {
        part += before->policy->thread_size;
        stop = take(here, scheduler, before, member, part, new);
    }
    return stop;
}

static const struct catapults_stop *take(struct processor *here, struct scheduler *scheduler,
                                         const struct scheduler *before, struct dispatcher_thread *member,
                                         const char *part, const char *new) {
    struct core *core = here->core;
    member->policy.container = 0;
    scheduler->policy->adopt(scheduler->instance, &member->policy);
    if (scheduler->consumed)
        core_clock_adopt(member);
    if (member->is_scheduler) {
        if (core->host->scheduler_adopted)
            core->host->scheduler_adopted(member);
    } else {
        core->host->adopted(member);
    }
    hand_on(member, before, part, new); /* last: values that have changed since count more than the first ones */
    const struct catapults_stop *stop = RAISE(scheduler, newthread, &member->policy);
    if (!stop && !core_is_runnable(member))
        stop = RAISE(scheduler, suspend_thread, &member->policy);
    return stop;
}

static void give_back(struct dispatcher_thread *member, const char *part) {
    copy(&member->policy, part, member->scheduler->policy->thread_size);
}

static bool same(const char *a, const char *b) {
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

static bool equal(const void *a, const void *b, unsigned long size) {
    for (unsigned long i = 0; i < size; i++)
        if (((const char *)a)[i] != ((const char *)b)[i])
            return false;
    return true;
}

/* Hands on attributes of the same name and type, which `newthread` may set anew; values that imports were given: they
 * differ from those of a new thread; and how long the thread has run. */
static void hand_on(struct dispatcher_thread *member, const struct scheduler *before, const char *part,
                    const char *new) {
    static const uint8_t sizes[] = {[CATAPULTS_IMPORT_INT] = sizeof(catapults_int),
                                    [CATAPULTS_IMPORT_BOOL] = 1,
                                    [CATAPULTS_IMPORT_TIME] = sizeof(catapults_time),
                                    [CATAPULTS_IMPORT_FLOAT] = 8};
    const struct catapults_policy *policy = member->scheduler->policy;
    char *t = (char *)&member->policy;
    for (uint32_t i = 0; i < policy->attributes_count; i++) {
        const struct catapults_attribute *to = &policy->attributes[i];
        for (uint32_t j = 0; j < before->policy->attributes_count; j++) {
            const struct catapults_attribute *from = &before->policy->attributes[j];
            if (to->type == from->type && same(to->name, from->name))
                copy(t + to->offset, part + from->offset, sizes[to->type]);
        }
    }
    for (uint32_t i = 0; i < policy->thread_imports_count; i++) {
        const struct catapults_import *to = &policy->thread_imports[i];
        for (uint32_t j = 0; j < before->policy->thread_imports_count; j++) {
            const struct catapults_import *from = &before->policy->thread_imports[j];
            if (to->type == from->type && same(to->name, from->name) &&
                !equal(part + from->fallback, new + from->fallback, sizes[to->type]))
                copy(t + to->fallback, part + from->fallback, sizes[to->type]);
        }
    }
}

/* ---- What is under a scheduler: threads, in the order of their numbers, then records of schedulers --------------- */

static struct dispatcher_thread *thread_from(const struct scheduler *scheduler, struct dispatcher_thread *thread) {
    while (thread && thread->scheduler != scheduler)
        thread = thread->newer;
    return thread;
}

static struct dispatcher_thread *child_from(const struct scheduler *scheduler, struct scheduler *child) {
    for (; child; child = child->next)
        for (struct dispatcher_thread *record = &child->record; child->parent == scheduler && record;
             record = record->newer)
            if (record->state != THREAD_ENDED)
                return record;
    return NULL;
}

static struct dispatcher_thread *first(struct processor *here, const struct scheduler *scheduler) {
    struct core *core = here->core;
    struct dispatcher_thread *thread = thread_from(scheduler, core->oldest);
    return thread ? thread : child_from(scheduler, core->root.next);
}

static struct dispatcher_thread *next(struct processor *here, const struct scheduler *scheduler,
                                      struct dispatcher_thread *member) {
    if (member->is_scheduler) {
        for (struct dispatcher_thread *record = member->newer; record; record = record->newer)
            if (record->state != THREAD_ENDED)
                return record;
        return child_from(scheduler, scheduler_of(member)->next);
    }
    struct dispatcher_thread *thread = thread_from(scheduler, member->newer);
    return thread ? thread : child_from(scheduler, here->core->root.next);
}

static void copy(void *to, const void *from, unsigned long size) {
    for (unsigned long i = 0; i < size; i++)
        ((char *)to)[i] = ((const char *)from)[i];
}

/* ---- Policies with nodes -----------------------------------------------------------------------------------------
 *
 * Before or afterwards there are several instances, in their own memory each: the old ones are not touched until the
 * new policy has taken all, and then they are nobody's. There are no other schedulers.
 *
 *     parts   │ instances of the processors │ a new thread │ thread, what else is kept of it │ thread, … │ …
 */
struct kept {
    struct scheduler *scheduler;
    bool homeless;
};

static unsigned long part_size(struct processor *here) {
    unsigned long size = (here->core->root.policy->thread_size + 15) & ~15ul;
    return size + ((sizeof(struct kept) + 15) & ~15ul);
}

static struct kept *kept_in(struct processor *here, char *part) { return (struct kept *)(part + part_size(here)) - 1; }

static unsigned long instances_size(struct processor *here) {
    return (here->core->processors_count * sizeof(struct scheduler *) + 15) & ~15ul;
}

static bool have_room_for_nodes(struct processor *here, const struct catapults_policy *policy, unsigned long *parts) {
    bool has = true;
    *parts = instances_size(here) + part_size(here);
    for (struct dispatcher_thread *thread = here->core->oldest; thread; thread = thread->newer) {
        if (thread->scheduler->lent_only)
            continue;
        has = has && policy->thread_size <= thread->room;
        *parts += part_size(here);
    }
    return has;
}

static const struct catapults_stop *begin(struct processor *here, const struct catapults_policy *policy, void *instance,
                                          void *const *nodes) {
    struct core *core = here->core;
    struct scheduler *root = &core->root;
    if (policy->shared_size)
        return core_nodes_begin(here, policy, instance, nodes);
    core_put_in_force(here, root, policy, instance ? instance : root->builtin);
    policy->start(root->instance);
    core_seed(core, root, root->instance);
    core_running_frames_start(here, root);
    core_clock_start(here, root);
    if (core->host->scheduler_started)
        core->host->scheduler_started(root);
    return root->handlers.init ? RAISE_INIT(root) : NULL;
}

static const struct catapults_stop *take_anew(struct processor *here, struct dispatcher_thread *thread,
                                              const struct scheduler *before, const char *part, const char *new) {
    struct core *core = here->core;
    struct scheduler *root = &core->root;
    if (!root->node) {
        root->runnable += core_is_runnable(thread);
        return take(here, root, before, thread, part, new);
    }
    root->policy->adopt(root->instance, &thread->policy);
    if (root->consumed)
        core_clock_adopt(thread);
    core->host->adopted(thread);
    hand_on(thread, before, part, new);
    return core_place_first(here, thread);
}

/* Nothing is RUNNING on any processor any more. The caller still runs on its own, but has lost it. */
static void end_all_turns(struct processor *here) {
    struct core *core = here->core;
    core->left_off += core->waiting;
    core->waiting = 0;
    core->fewer_wait = core->none_waits = core->postponed != NULL;
    for (uint16_t frame = NOBODY + 1; frame < core->frames_end; frame++)
        core_set_turn(here, frame, NULL);
    for (uint32_t i = 0; i < core->processors_count; i++) {
        struct processor *one = core->processors[i];
        for (; one->turns_first; one->turns_first = one->turns_first->turn_next)
            one->turns_first->turn_waits = false;
        one->frame = one->sees = NOBODY;
        one->handed = NULL;
        if (!core->root.node)
            one->scheduler = one->serves = &core->root;
        if (one == here || one->current == &one->idle)
            continue;
        one->over = true;
        core_tell_other(here, one, INTERRUPT);
    }
    if (core->several && !core->root.node)
        core_give_out_frames(here);
    for (struct scheduler *node = &core->root; node; node = node->next)
        core_noticed(here, node);
}

static const struct catapults_stop *replace_nodes(struct processor *here, const struct catapults_policy *policy,
                                                  void *instance, void *const *nodes, char *parts) {
    struct core *core = here->core;
    struct scheduler *root = &core->root, *last = core->last;
    for (struct scheduler *one = root; one; one = one->next)
        tell(here, one, true); /* what has passed until now is still charged */
    const struct scheduler before = *root;
    const unsigned long size = before.policy->thread_size, step = part_size(here);
    const uint32_t homeless = core->homeless;
    struct scheduler **schedulers = (struct scheduler **)parts;
    for (uint32_t i = 0; i < core->processors_count; i++)
        schedulers[i] = core->processors[i]->scheduler;
    char *const new = parts + instances_size(here), *part = new;
    before.policy->adopt(before.instance, (struct catapults_thread *)new);
    for (struct dispatcher_thread *thread = core->oldest; thread; thread = thread->newer) {
        if (thread->scheduler->lent_only)
            continue; /* it is under no policy, here and below */
        copy(part += step, &thread->policy, size);
        *kept_in(here, part) = (struct kept){.scheduler = thread->scheduler, .homeless = thread->homeless};
        thread->scheduler = root;
        thread->homeless = false;
        thread->policy.container = 0;
    }
    core->homeless = 0;
    core->last = root;
    root->next = NULL;
    root->node = NULL;
    root->shared = NULL;
    root->runnable = 0;
    root->asked_for = root->declined = root->idle = false;

    const struct catapults_stop *stop = begin(here, policy, instance, nodes);
    part = new;
    for (struct dispatcher_thread *thread = core->oldest; thread && !stop; thread = thread->newer)
        if (!thread->scheduler->lent_only)
            stop = take_anew(here, thread, &before, part += step, new);
    if (!stop) {
        for (struct dispatcher_thread *thread = core->oldest; thread; thread = thread->newer)
            thread->set_aside = thread->set_aside || thread->state == THREAD_BLOCKED;
        end_all_turns(here);
        return NULL;
    }
    *root = before;
    core->last = last;
    core->homeless = homeless;
    for (uint32_t i = 0; i < core->processors_count; i++)
        core->processors[i]->scheduler = schedulers[i];
    part = new;
    for (struct dispatcher_thread *thread = core->oldest; thread; thread = thread->newer) {
        if (thread->scheduler->lent_only)
            continue;
        part += step;
        thread->scheduler = kept_in(here, part)->scheduler;
        thread->homeless = kept_in(here, part)->homeless;
        copy(&thread->policy, part, size);
    }
    core_lose_shortcut(core);
    return stop;
}
