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

bool dispatcher_has_room(const struct scheduler *scheduler, const struct catapults_policy *policy,
                         unsigned long *parts) {
    bool has = true;
    *parts = scheduler->policy->thread_size; /* for a thread as new ones are */
    for (struct dispatcher_thread *member = first(scheduler); member; member = next(scheduler, member)) {
        has = has && policy->thread_size <= member->room;
        *parts += scheduler->policy->thread_size;
    }
    return has;
}

const struct catapults_stop *dispatcher_replace(struct scheduler *scheduler, const struct catapults_policy *policy,
                                                void *instance, void *parts) {
    unsigned long size = scheduler->policy->thread_size;
    tell(scheduler, true);                      /* what has passed until now is still charged */
    const struct scheduler before = *scheduler; /* but for its record, whose attributes are not in it */
    char *part = parts;
    scheduler->policy->adopt(scheduler->instance, parts);
    for (struct dispatcher_thread *member = first(scheduler); member; member = next(scheduler, member))
        copy(part += size, &member->policy, size);

    dispatcher_put_in_force(scheduler, policy, instance ? instance : scheduler->builtin);
    policy->start(scheduler->instance);
    dispatcher_frames_start(scheduler);
    dispatcher_clock_start(scheduler);
    if (dispatcher.host->scheduler_started)
        dispatcher.host->scheduler_started(scheduler);
    const struct catapults_stop *stop = scheduler->handlers->init ? RAISE_INIT(scheduler) : NULL;
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
            dispatcher.host->scheduler_adopted(scheduler_of(member));
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

/* ---- What is under a scheduler: threads, in the order of their numbers, then schedulers -------------------------- */

static struct dispatcher_thread *thread_from(const struct scheduler *scheduler, struct dispatcher_thread *thread) {
    while (thread && thread->scheduler != scheduler)
        thread = thread->newer;
    return thread;
}

static struct dispatcher_thread *child_from(const struct scheduler *scheduler, struct scheduler *child) {
    while (child && child->parent != scheduler)
        child = child->next;
    return child ? &child->record : NULL;
}

static struct dispatcher_thread *first(const struct scheduler *scheduler) {
    struct dispatcher_thread *thread = thread_from(scheduler, dispatcher.oldest);
    return thread ? thread : child_from(scheduler, dispatcher.root.next);
}

static struct dispatcher_thread *next(const struct scheduler *scheduler, struct dispatcher_thread *member) {
    if (member->is_scheduler)
        return child_from(scheduler, scheduler_of(member)->next);
    struct dispatcher_thread *thread = thread_from(scheduler, member->newer);
    return thread ? thread : child_from(scheduler, dispatcher.root.next);
}

static void copy(void *to, const void *from, unsigned long size) {
    for (unsigned long i = 0; i < size; i++)
        ((char *)to)[i] = ((const char *)from)[i];
}
