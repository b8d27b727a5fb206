/*
 * Schedulers come and go, and threads go from one to another.
 */
#include <errno.h>

#include "core/clock.h"
#include "core/containment.h"
#include "core/in_force.h"
#include "core/nodes.h"
#include "core/raise.h"
#include "core/running_frames.h"
#include "core/schedulers.h"
#include "core/tree.h"

static void unlink_scheduler(struct processor *here, const struct scheduler *scheduler);
static void begin_to_leave(struct processor *here, struct scheduler *scheduler, const struct dispatcher_thread *runs);

unsigned long core_thread_size(const struct catapults_policy *policy) {
    unsigned long size =
        policy->thread_size > dispatcher_builtin.thread_size ? policy->thread_size : dispatcher_builtin.thread_size;
    return offsetof(struct dispatcher_thread, policy) + size;
}

unsigned long core_scheduler_size(const struct scheduler *parent) {
    return offsetof(struct scheduler, record) + core_thread_size(parent->policy);
}

const struct catapults_stop *core_add(struct processor *here, struct scheduler *scheduler, struct scheduler *parent,
                                      const char *text, const struct catapults_policy *policy, void *instance) {
    struct core *core = here->core;
    uint32_t room = scheduler->record.room;
    *scheduler = (struct scheduler){.parent = parent, .name = text, .host = scheduler->host, .record.room = room};
    core_put_in_force(here, scheduler, policy, instance ? instance : scheduler->builtin);
    core->last->next = scheduler;
    core->last = scheduler;
    const struct dispatcher_thread *runs = core_running(here);
    const struct catapults_stop *stop = core_introduce(here, scheduler, &scheduler->record, runs);
    if (UNLIKELY(stop)) {
        unlink_scheduler(here, scheduler);
        return stop;
    }
    /* It has nothing to run yet. */
    core_gained(here, parent, runs);
    core_lost(here, scheduler, runs);

    scheduler->before = ++core->added;
    policy->start(scheduler->instance);
    core_seed(core, scheduler, scheduler->instance);
    core_running_frames_start(here, scheduler);
    core_clock_start(here, scheduler);
    if (core->host->scheduler_started)
        core->host->scheduler_started(scheduler);
    stop = scheduler->handlers.init ? RAISE_INIT(scheduler) : NULL;
    if (UNLIKELY(stop))
        core_contain(here, scheduler, "init", stop, NULL, runs);
    return NULL;
}

const struct catapults_stop *core_introduce(struct processor *here, struct scheduler *scheduler,
                                            struct dispatcher_thread *record, const struct dispatcher_thread *runs) {
    struct core *core = here->core;
    struct scheduler *parent = scheduler->parent;
    uint32_t room = record->room;
    *record = (struct dispatcher_thread){
        .scheduler = parent, .below = scheduler, .state = SCHEDULER_RUNNABLE, .is_scheduler = true, .room = room};
    record->policy.number = ++core->numbers;
    parent->runnable++;
    parent->policy->adopt(parent->instance, &record->policy);
    if (parent->consumed)
        core_clock_adopt(record);
    if (core->host->scheduler_adopted)
        core->host->scheduler_adopted(record);
    if (UNLIKELY(parent->node != NULL) && !(parent = core_place(here, record, parent, runs)))
        return NULL;
    const struct catapults_stop *stop = RAISE(parent, newthread, &record->policy);
    if (UNLIKELY(stop)) {
        if (stop->why == CATAPULTS_STOP_FAIL) {
            parent->runnable--;
            return stop;
        }
        core_contain(here, parent, "newthread", stop, NULL, runs);
    }
    TRACE(TRACE_NEW, record, 0);
    if (UNLIKELY(core->recorder != NULL))
        core->recorder->named(record, record->below->name ? record->below->name : "");
    core_noticed(here, record->scheduler);
    return NULL;
}

static void unlink_scheduler(struct processor *here, const struct scheduler *scheduler) {
    struct core *core = here->core;
    struct scheduler *previous = &core->root;
    while (previous->next != scheduler)
        previous = previous->next;
    previous->next = scheduler->next;
    if (core->last == scheduler)
        core->last = previous;
}

static bool has_children(const struct scheduler *scheduler) {
    for (const struct scheduler *child = scheduler->next; child; child = child->next)
        if (child->parent == scheduler)
            return true;
    return false;
}

/* Without schedulers that were removed before it. */
static bool has_members(struct processor *here, const struct scheduler *scheduler) {
    for (const struct dispatcher_thread *thread = here->core->oldest; thread; thread = thread->newer)
        if (thread->scheduler == scheduler)
            return true;
    for (const struct scheduler *child = scheduler->next; child; child = child->next)
        if (child->parent == scheduler && !child->removed)
            return true;
    return false;
}

int core_remove(struct processor *here, struct scheduler *scheduler) {
    if (!scheduler->parent || scheduler->removed)
        return EINVAL;
    if (has_members(here, scheduler) || scheduler->attaching > 0)
        return EBUSY;
    scheduler->removed = true;
    if (!has_children(scheduler))
        begin_to_leave(here, scheduler, core_running(here));
    return 0;
}

void core_left(struct processor *here, struct scheduler *parent) {
    if (UNLIKELY(parent->removed) && !parent->leaving && !has_children(parent))
        begin_to_leave(here, parent, NULL);
}

static void begin_to_leave(struct processor *here, struct scheduler *scheduler, const struct dispatcher_thread *runs) {
    scheduler->leaving = true;
    scheduler->idle = false;
    for (struct dispatcher_thread *record = &scheduler->record; record; record = record->newer)
        if (record->state != SCHEDULER_RUNNABLE)
            core_raise_at_parent(here, record, SCHEDULER_RUNNABLE, runs);
    core_gained(here, scheduler->parent, runs);
}

/* Every one of its records has to be dispatched. */
static bool has_records(const struct scheduler *scheduler) {
    for (const struct dispatcher_thread *record = &scheduler->record; record; record = record->newer)
        if (record->state != THREAD_ENDED)
            return true;
    return false;
}

void core_end(struct processor *here, struct dispatcher_thread *record) {
    struct core *core = here->core;
    struct scheduler *scheduler = scheduler_of(record), *parent = record->scheduler;
    record->state = THREAD_ENDED;
    parent->runnable--;
    bool last = !has_records(scheduler);
    if (last) {
        unlink_scheduler(here, scheduler);
        core_lose_shortcut(core);
    }
    const struct catapults_stop *stop = RAISE(parent, exit, &record->policy);
    if (UNLIKELY(stop))
        core_contain(here, parent, "exit", stop, NULL, NULL);
    TRACE(TRACE_EXITED, record, 0);
    if (!last)
        return;
    scheduler->next = core->removed;
    core->removed = scheduler;
}

/* ---- Threads that change their scheduler ------------------------------------------------------------------------- */

static void copy(void *to, const void *from, uint32_t size) {
    for (uint32_t i = 0; i < size; i++)
        ((char *)to)[i] = ((const char *)from)[i];
}

static void exchange(void *a, void *b, uint32_t size) {
    for (uint32_t i = 0; i < size; i++) {
        char byte = ((char *)a)[i];
        ((char *)a)[i] = ((char *)b)[i];
        ((char *)b)[i] = byte;
    }
}

/*
 * What a policy keeps of a thread is in the thread's record, and both policies need it. While events are raised at one
 * of them, `room` has what the other keeps. The containers of that one point at the record as before, and nobody
 * follows them meanwhile.
 */
const struct catapults_stop *core_move(struct processor *here, struct dispatcher_thread *thread, struct scheduler *to,
                                       void *room) {
    struct scheduler *from = thread->scheduler;
    struct dispatcher_thread *above = core_above(here, thread);
    tell(here, to, true); /* the time until now is not this thread's */
    copy(room, &thread->policy, thread->room);
    thread->scheduler = to;
    thread->policy.container = 0;
    to->policy->adopt(to->instance, &thread->policy);
    if (to->consumed)
        core_clock_adopt(thread);
    here->core->host->adopted(thread);
    to->runnable++;
    const struct catapults_stop *stop = NULL;
    if (LIKELY(!to->node) || (to = core_place(here, thread, to, above)))
        stop = RAISE(to, newthread, &thread->policy);
    if (stop && stop->why == CATAPULTS_STOP_FAIL) {
        to->runnable--;
        copy(&thread->policy, room, thread->room);
        thread->scheduler = from;
        return stop;
    }
    if (UNLIKELY(stop))
        core_contain(here, to, "newthread", stop, NULL, above);
    to = thread->scheduler; /* another instance, or that of a policy that is out */

    exchange(&thread->policy, room, thread->room);
    thread->scheduler = from;
    thread->state = THREAD_ENDED;
    from->runnable--;
    stop = RAISE(from, exit, &thread->policy);
    if (UNLIKELY(stop))
        core_contain(here, from, "exit", stop, NULL, NULL);
    exchange(&thread->policy, room, thread->room);
    core_give_up(here, thread); /* at schedulers of which `to` may be one */
    core_noticed(here, to);
    core_gained(here, to, NULL); /* it has not run there: nobody is charged yet */
    thread->scheduler = to;
    thread->via = 0;
    thread->state = THREAD_RUNNABLE;
    TRACE(TRACE_SWITCHED_OUT, thread, 0);
    return NULL;
}

struct scheduler *core_take_removed(struct processor *here) {
    struct core *core = here->core;
    struct scheduler *scheduler = core->removed;
    if (scheduler)
        core->removed = scheduler->next;
    return scheduler;
}

struct scheduler *core_next_scheduler(const struct scheduler *scheduler) { return scheduler->next; }
