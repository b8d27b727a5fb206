/*
 * Schedulers come and go, and threads go from one to another.
 */
#include <errno.h>

#include "dispatcher/raise_loaded.h"
#include "dispatcher/state.h"
#include "dispatcher/trace.h"

static void unlink_scheduler(const struct scheduler *scheduler);
static void begin_to_leave(struct scheduler *scheduler, const struct dispatcher_thread *runs);

unsigned long dispatcher_scheduler_size(const struct scheduler *parent) {
    return offsetof(struct scheduler, record) + dispatcher_thread_size(parent->policy);
}

const struct catapults_stop *dispatcher_add(struct scheduler *scheduler, struct scheduler *parent, const char *text,
                                            const struct catapults_policy *policy, void *instance) {
    uint32_t room = scheduler->record.room;
    *scheduler = (struct scheduler){.parent = parent, .name = text, .host = scheduler->host, .record.room = room};
    dispatcher_put_in_force(scheduler, policy, instance ? instance : scheduler->builtin);
    dispatcher.last->next = scheduler;
    dispatcher.last = scheduler;
    const struct dispatcher_thread *runs = dispatcher_running();
    const struct catapults_stop *stop = dispatcher_introduce(scheduler, &scheduler->record, runs);
    if (UNLIKELY(stop)) {
        unlink_scheduler(scheduler);
        return stop;
    }
    /* It has nothing to run yet. */
    dispatcher_gained(parent, runs);
    dispatcher_lost(scheduler, runs);

    policy->start(scheduler->instance);
    dispatcher_running_frames_start(scheduler);
    dispatcher_clock_start(scheduler);
    if (dispatcher.host->scheduler_started)
        dispatcher.host->scheduler_started(scheduler);
    stop = scheduler->handlers.init ? RAISE_INIT(scheduler) : NULL;
    if (UNLIKELY(stop))
        dispatcher_contain(scheduler, "init", stop, NULL, runs);
    return NULL;
}

const struct catapults_stop *dispatcher_introduce(struct scheduler *scheduler, struct dispatcher_thread *record,
                                                  const struct dispatcher_thread *runs) {
    struct scheduler *parent = scheduler->parent;
    uint32_t room = record->room;
    *record = (struct dispatcher_thread){
        .scheduler = parent, .below = scheduler, .state = SCHEDULER_RUNNABLE, .is_scheduler = true, .room = room};
    record->policy.number = ++dispatcher.numbers;
    parent->runnable++;
    parent->policy->adopt(parent->instance, &record->policy);
    if (parent->consumed)
        dispatcher_clock_adopt(record);
    if (dispatcher.host->scheduler_adopted)
        dispatcher.host->scheduler_adopted(record);
    if (UNLIKELY(parent->node != NULL) && !(parent = dispatcher_place(record, parent, runs)))
        return NULL;
    const struct catapults_stop *stop = RAISE(parent, newthread, &record->policy);
    if (UNLIKELY(stop)) {
        if (stop->why == CATAPULTS_STOP_FAIL) {
            parent->runnable--;
            return stop;
        }
        dispatcher_contain(parent, "newthread", stop, NULL, runs);
    }
    TRACE(TRACE_NEW, record, 0);
    if (UNLIKELY(dispatcher_trace != NULL))
        dispatcher_record_name(record, record->below->name ? record->below->name : "");
    dispatcher_noticed(record->scheduler);
    return NULL;
}

static void unlink_scheduler(const struct scheduler *scheduler) {
    struct scheduler *previous = &dispatcher.root;
    while (previous->next != scheduler)
        previous = previous->next;
    previous->next = scheduler->next;
    if (dispatcher.last == scheduler)
        dispatcher.last = previous;
}

static bool has_children(const struct scheduler *scheduler) {
    for (const struct scheduler *child = scheduler->next; child; child = child->next)
        if (child->parent == scheduler)
            return true;
    return false;
}

/* But for schedulers that were removed before it. */
static bool has_members(const struct scheduler *scheduler) {
    for (const struct dispatcher_thread *thread = dispatcher.oldest; thread; thread = thread->newer)
        if (thread->scheduler == scheduler)
            return true;
    for (const struct scheduler *child = scheduler->next; child; child = child->next)
        if (child->parent == scheduler && !child->removed)
            return true;
    return false;
}

int dispatcher_remove(struct scheduler *scheduler) {
    if (!scheduler->parent || scheduler->removed)
        return EINVAL;
    if (has_members(scheduler) || scheduler->attaching > 0)
        return EBUSY;
    scheduler->removed = true;
    if (!has_children(scheduler))
        begin_to_leave(scheduler, dispatcher_running());
    return 0;
}

void dispatcher_left(struct scheduler *parent) {
    if (UNLIKELY(parent->removed) && !parent->leaving && !has_children(parent))
        begin_to_leave(parent, NULL);
}

static void begin_to_leave(struct scheduler *scheduler, const struct dispatcher_thread *runs) {
    scheduler->leaving = true;
    scheduler->idle = false;
    for (struct dispatcher_thread *record = &scheduler->record; record; record = record->newer)
        if (record->state != SCHEDULER_RUNNABLE)
            dispatcher_raise_at_parent(record, SCHEDULER_RUNNABLE, runs);
    dispatcher_gained(scheduler->parent, runs);
}

/* Every one of its records has to be dispatched. */
static bool has_records(const struct scheduler *scheduler) {
    for (const struct dispatcher_thread *record = &scheduler->record; record; record = record->newer)
        if (record->state != THREAD_ENDED)
            return true;
    return false;
}

void dispatcher_end(struct dispatcher_thread *record) {
    struct scheduler *scheduler = scheduler_of(record), *parent = record->scheduler;
    record->state = THREAD_ENDED;
    parent->runnable--;
    bool last = !has_records(scheduler);
    if (last) {
        unlink_scheduler(scheduler);
        dispatcher_find_shortcut();
    }
    const struct catapults_stop *stop = RAISE(parent, exit, &record->policy);
    if (UNLIKELY(stop))
        dispatcher_contain(parent, "exit", stop, NULL, NULL);
    TRACE(TRACE_EXITED, record, 0);
    if (!last)
        return;
    scheduler->next = dispatcher.removed;
    dispatcher.removed = scheduler;
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
 * of them, what the other keeps is in `room`: its containers point at the record as before, and nobody follows them
 * meanwhile.
 */
const struct catapults_stop *dispatcher_move(struct dispatcher_thread *thread, struct scheduler *to, void *room) {
    struct scheduler *from = thread->scheduler;
    struct dispatcher_thread *above = dispatcher_above(thread);
    tell(to, true); /* what has passed there until now is none of this thread's */
    copy(room, &thread->policy, thread->room);
    thread->scheduler = to;
    thread->policy.container = 0;
    to->policy->adopt(to->instance, &thread->policy);
    if (to->consumed)
        dispatcher_clock_adopt(thread);
    dispatcher.host->adopted(thread);
    to->runnable++;
    const struct catapults_stop *stop = NULL;
    if (LIKELY(!to->node) || (to = dispatcher_place(thread, to, above)))
        stop = RAISE(to, newthread, &thread->policy);
    if (stop && stop->why == CATAPULTS_STOP_FAIL) {
        to->runnable--;
        copy(&thread->policy, room, thread->room);
        thread->scheduler = from;
        return stop;
    }
    if (UNLIKELY(stop))
        dispatcher_contain(to, "newthread", stop, NULL, above);
    to = thread->scheduler; /* another instance, or that of a policy that had to go */

    exchange(&thread->policy, room, thread->room);
    thread->scheduler = from;
    thread->state = THREAD_ENDED;
    from->runnable--;
    stop = RAISE(from, exit, &thread->policy);
    if (UNLIKELY(stop))
        dispatcher_contain(from, "exit", stop, NULL, NULL);
    exchange(&thread->policy, room, thread->room);
    dispatcher_give_up(thread); /* at schedulers of which `to` may be one */
    thread->scheduler = to;
    thread->via = 0;
    thread->state = THREAD_RUNNABLE;
    dispatcher_noticed(to);
    dispatcher_gained(to, NULL);
    TRACE(TRACE_SWITCHED_OUT, thread, 0);
    return NULL;
}

struct scheduler *dispatcher_take_removed(void) {
    struct scheduler *scheduler = dispatcher.removed;
    if (scheduler)
        dispatcher.removed = scheduler->next;
    return scheduler;
}

struct scheduler *dispatcher_root(void) { return &dispatcher.root; }

struct scheduler *dispatcher_next_scheduler(const struct scheduler *scheduler) { return scheduler->next; }
