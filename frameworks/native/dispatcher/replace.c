/*
 * Another policy in the place of one, while its threads go on. What the old policy keeps is left as it is until the new
 * one has taken all: if it refuses one, the old one goes on as if nothing had happened.
 */
#include "dispatcher/raise_loaded.h"
#include "dispatcher/state.h"

static const struct catapults_stop *take_all(struct scheduler *scheduler, const struct scheduler *before,
                                             const char *parts);
static const struct catapults_stop *take(struct scheduler *scheduler, const struct scheduler *before,
                                         struct dispatcher_thread *member, const char *part, const char *new);
static void give_back(struct dispatcher_thread *member, const char *part);
static void hand_on(struct dispatcher_thread *member, const struct scheduler *before, const char *part,
                    const char *new);
static struct dispatcher_thread *first(const struct scheduler *scheduler);
static struct dispatcher_thread *next(const struct scheduler *scheduler, struct dispatcher_thread *member);
static void copy(void *to, const void *from, unsigned long size);
static bool have_room_for_nodes(const struct catapults_policy *policy, unsigned long *parts);
static const struct catapults_stop *replace_nodes(const struct catapults_policy *policy, void *instance,
                                                  void *const *nodes, char *parts);

/* Either the old policy or the new one has an instance for each processor. */
static bool are_nodes(const struct scheduler *scheduler, const struct catapults_policy *policy) {
    return scheduler->node || policy->shared_size;
}

bool dispatcher_has_room(const struct scheduler *scheduler, const struct catapults_policy *policy,
                         unsigned long *parts) {
    if (UNLIKELY(are_nodes(scheduler, policy)))
        return have_room_for_nodes(policy, parts);
    bool has = true;
    *parts = scheduler->policy->thread_size; /* for a thread as new ones are */
    for (struct dispatcher_thread *member = first(scheduler); member; member = next(scheduler, member)) {
        has = has && policy->thread_size <= member->room;
        *parts += scheduler->policy->thread_size;
    }
    return has;
}

const struct catapults_stop *dispatcher_replace(struct scheduler *scheduler, const struct catapults_policy *policy,
                                                void *instance, void *const *nodes, void *parts) {
    if (UNLIKELY(are_nodes(scheduler, policy)))
        return replace_nodes(policy, instance, nodes, parts);
    unsigned long size = scheduler->policy->thread_size;
    tell(scheduler, true);                      /* what has passed until now is still charged */
    const struct scheduler before = *scheduler; /* but for its record, whose attributes are not in it */
    char *part = parts;
    scheduler->policy->adopt(scheduler->instance, parts);
    for (struct dispatcher_thread *member = first(scheduler); member; member = next(scheduler, member))
        copy(part += size, &member->policy, size);

    dispatcher_put_in_force(scheduler, policy, instance ? instance : scheduler->builtin);
    policy->start(scheduler->instance);
    dispatcher_running_frames_start(scheduler);
    dispatcher_clock_start(scheduler);
    if (dispatcher.host->scheduler_started)
        dispatcher.host->scheduler_started(scheduler);
    const struct catapults_stop *stop = scheduler->handlers.init ? RAISE_INIT(scheduler) : NULL;
    if (!stop)
        stop = take_all(scheduler, &before, parts);
    if (stop) {
        dispatcher_put_in_force(scheduler, before.policy, before.instance);
        scheduler->frames = before.frames;
        scheduler->frame_size = before.frame_size;
        scheduler->frame = before.frame;
        dispatcher_clock_start(scheduler);
        part = parts;
        for (struct dispatcher_thread *member = first(scheduler); member; member = next(scheduler, member))
            give_back(member, part += size);
        return stop;
    }
    /* What is not RUNNABLE was suspended, and is to be resumed, whatever it waits for. */
    for (struct dispatcher_thread *member = first(scheduler); member; member = next(scheduler, member)) {
        if (member->state == THREAD_BLOCKED)
            member->set_aside = true;
    }
    scheduler->idle = false;
    if (dispatcher.several)
        dispatcher_end_turns_under(scheduler);
    return NULL;
}

static const struct catapults_stop *take_all(struct scheduler *scheduler, const struct scheduler *before,
                                             const char *parts) {
    const struct catapults_stop *stop = NULL;
    const char *part = parts, *new = parts;
    for (struct dispatcher_thread *member = first(scheduler); member && !stop; member = next(scheduler, member)) {
        part += before->policy->thread_size;
        stop = take(scheduler, before, member, part, new);
    }
    return stop;
}

static const struct catapults_stop *take(struct scheduler *scheduler, const struct scheduler *before,
                                         struct dispatcher_thread *member, const char *part, const char *new) {
    member->policy.container = 0;
    scheduler->policy->adopt(scheduler->instance, &member->policy);
    if (scheduler->consumed)
        dispatcher_clock_adopt(member);
    if (member->is_scheduler) {
        if (dispatcher.host->scheduler_adopted)
            dispatcher.host->scheduler_adopted(member);
    } else {
        dispatcher.host->adopted(member);
    }
    hand_on(member, before, part, new); /* last: values that have changed since count more than what it began with */
    const struct catapults_stop *stop = RAISE(scheduler, newthread, &member->policy);
    if (!stop && !dispatcher_is_runnable(member))
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

/* Attributes of the same name and type, which `newthread` may set anew; values that imports were given, which is to say
 * that they differ from those of a new thread; and how long the thread has run. */
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

static struct dispatcher_thread *first(const struct scheduler *scheduler) {
    struct dispatcher_thread *thread = thread_from(scheduler, dispatcher.oldest);
    return thread ? thread : child_from(scheduler, dispatcher.root.next);
}

static struct dispatcher_thread *next(const struct scheduler *scheduler, struct dispatcher_thread *member) {
    if (member->is_scheduler) {
        for (struct dispatcher_thread *record = member->newer; record; record = record->newer)
            if (record->state != THREAD_ENDED)
                return record;
        return child_from(scheduler, scheduler_of(member)->next);
    }
    struct dispatcher_thread *thread = thread_from(scheduler, member->newer);
    return thread ? thread : child_from(scheduler, dispatcher.root.next);
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

static unsigned long part_size(void) {
    unsigned long size = (dispatcher.root.policy->thread_size + 15) & ~15ul;
    return size + ((sizeof(struct kept) + 15) & ~15ul);
}

static struct kept *kept_in(char *part) { return (struct kept *)(part + part_size()) - 1; }

static unsigned long instances_size(void) {
    return (dispatcher.processors_count * sizeof(struct scheduler *) + 15) & ~15ul;
}

static bool have_room_for_nodes(const struct catapults_policy *policy, unsigned long *parts) {
    bool has = true;
    *parts = instances_size() + part_size();
    for (struct dispatcher_thread *thread = dispatcher.oldest; thread; thread = thread->newer) {
        if (thread->scheduler->lent_only)
            continue;
        has = has && policy->thread_size <= thread->room;
        *parts += part_size();
    }
    return has;
}

static const struct catapults_stop *begin(const struct catapults_policy *policy, void *instance, void *const *nodes) {
    struct scheduler *root = &dispatcher.root;
    if (policy->shared_size)
        return dispatcher_nodes_begin(policy, instance, nodes);
    dispatcher_put_in_force(root, policy, instance ? instance : root->builtin);
    policy->start(root->instance);
    dispatcher_running_frames_start(root);
    dispatcher_clock_start(root);
    if (dispatcher.host->scheduler_started)
        dispatcher.host->scheduler_started(root);
    return root->handlers.init ? RAISE_INIT(root) : NULL;
}

static const struct catapults_stop *take_anew(struct dispatcher_thread *thread, const struct scheduler *before,
                                              const char *part, const char *new) {
    struct scheduler *root = &dispatcher.root;
    if (!root->node) {
        root->runnable += dispatcher_is_runnable(thread);
        return take(root, before, thread, part, new);
    }
    root->policy->adopt(root->instance, &thread->policy);
    if (root->consumed)
        dispatcher_clock_adopt(thread);
    dispatcher.host->adopted(thread);
    hand_on(thread, before, part, new);
    return dispatcher_place_first(thread);
}

/* Nothing is RUNNING on any processor any more, but the caller on its own, who has lost it. */
static void end_all_turns(void) {
    struct processor *here = processor_here();
    dispatcher.left_off += dispatcher.waiting;
    dispatcher.waiting = 0;
    dispatcher.fewer_wait = dispatcher.none_waits = dispatcher.postponed != NULL;
    for (uint16_t frame = NOBODY + 1; frame < dispatcher.frames_end; frame++)
        dispatcher_set_turn(frame, NULL);
    for (uint32_t i = 0; i < dispatcher.processors_count; i++) {
        struct processor *one = dispatcher.processors[i];
        for (; one->turns_first; one->turns_first = one->turns_first->turn_next)
            one->turns_first->turn_waits = false;
        one->frame = one->sees = NOBODY;
        one->handed = NULL;
        if (!dispatcher.root.node)
            one->scheduler = one->serves = &dispatcher.root;
        if (one == here || one->current == &one->idle)
            continue;
        one->over = true;
        if (dispatcher.host->interrupt)
            dispatcher.host->interrupt(one);
    }
    if (dispatcher.several && !dispatcher.root.node)
        dispatcher_give_out_frames();
    for (struct scheduler *node = &dispatcher.root; node; node = node->next)
        dispatcher_noticed(node);
}

static const struct catapults_stop *replace_nodes(const struct catapults_policy *policy, void *instance,
                                                  void *const *nodes, char *parts) {
    struct scheduler *root = &dispatcher.root, *last = dispatcher.last;
    for (struct scheduler *one = root; one; one = one->next)
        tell(one, true); /* what has passed until now is still charged */
    const struct scheduler before = *root;
    const unsigned long size = before.policy->thread_size, step = part_size();
    const uint32_t homeless = dispatcher.homeless;
    struct scheduler **schedulers = (struct scheduler **)parts;
    for (uint32_t i = 0; i < dispatcher.processors_count; i++)
        schedulers[i] = dispatcher.processors[i]->scheduler;
    char *const new = parts + instances_size(), *part = new;
    before.policy->adopt(before.instance, (struct catapults_thread *)new);
    for (struct dispatcher_thread *thread = dispatcher.oldest; thread; thread = thread->newer) {
        if (thread->scheduler->lent_only)
            continue; /* it is under no policy, here and below */
        copy(part += step, &thread->policy, size);
        *kept_in(part) = (struct kept){.scheduler = thread->scheduler, .homeless = thread->homeless};
        thread->scheduler = root;
        thread->homeless = false;
        thread->policy.container = 0;
    }
    dispatcher.homeless = 0;
    dispatcher.last = root;
    root->next = NULL;
    root->node = NULL;
    root->shared = NULL;
    root->runnable = 0;
    root->asked_for = root->declined = root->idle = false;

    const struct catapults_stop *stop = begin(policy, instance, nodes);
    part = new;
    for (struct dispatcher_thread *thread = dispatcher.oldest; thread && !stop; thread = thread->newer)
        if (!thread->scheduler->lent_only)
            stop = take_anew(thread, &before, part += step, new);
    if (!stop) {
        for (struct dispatcher_thread *thread = dispatcher.oldest; thread; thread = thread->newer)
            thread->set_aside = thread->set_aside || thread->state == THREAD_BLOCKED;
        end_all_turns();
        return NULL;
    }
    *root = before;
    dispatcher.last = last;
    dispatcher.homeless = homeless;
    for (uint32_t i = 0; i < dispatcher.processors_count; i++)
        dispatcher.processors[i]->scheduler = schedulers[i];
    part = new;
    for (struct dispatcher_thread *thread = dispatcher.oldest; thread; thread = thread->newer) {
        if (thread->scheduler->lent_only)
            continue;
        part += step;
        thread->scheduler = kept_in(part)->scheduler;
        thread->homeless = kept_in(part)->homeless;
        copy(&thread->policy, part, size);
    }
    dispatcher_find_shortcut();
    return stop;
}
