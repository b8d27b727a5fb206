/*
 * Schedulers come and go, and threads go from one to another.
 */
#include <errno.h>

#include "dispatcher/raise_loaded.h"
#include "dispatcher/state.h"
#include "dispatcher/trace.h"

static void name(const struct scheduler *scheduler);

unsigned long dispatcher_scheduler_size(const struct scheduler *parent) {
    return offsetof(struct scheduler, record) + dispatcher_thread_size(parent->policy);
}

const struct catapults_stop *dispatcher_add(struct scheduler *scheduler, struct scheduler *parent, const char *text,
                                            const struct catapults_policy *policy, void *instance) {
    struct dispatcher_thread *record = &scheduler->record;
    uint32_t room = record->room;
    *scheduler = (struct scheduler){.parent = parent, .name = text, .host = scheduler->host};
    scheduler->policy = policy;
    scheduler->handlers = policy->handlers;
    scheduler->instance = instance ? instance : scheduler->builtin;
    *record = (struct dispatcher_thread){.scheduler = parent, .state = SCHEDULER_RUNNABLE, .room = room};
    record->policy.number = ++dispatcher.numbers;
    parent->runnable++;
    parent->members++;
    parent->policy->adopt(parent->instance, &record->policy);
    dispatcher_clock_adopt(record);
    if (dispatcher.host->scheduler_adopted)
        dispatcher.host->scheduler_adopted(scheduler);
    const struct dispatcher_thread *runs = dispatcher_running();
    const struct catapults_stop *stop = RAISE(parent, newthread, &record->policy);
    if (UNLIKELY(stop)) {
        if (stop->why == CATAPULTS_STOP_FAIL) {
            parent->runnable--;
            parent->members--;
            return stop;
        }
        dispatcher_contain(parent, "newthread", stop, NULL, runs);
    }
    TRACE(TRACE_NEW, record, 0);
    if (UNLIKELY(dispatcher_trace != NULL))
        name(scheduler);
    dispatcher.last->next = scheduler;
    dispatcher.last = scheduler;
    /* It has nothing to run yet. */
    dispatcher_gained(parent, runs);
    dispatcher_lost(scheduler, runs);

    policy->start(scheduler->instance);
    dispatcher_clock_start(scheduler);
    if (dispatcher.host->scheduler_started)
        dispatcher.host->scheduler_started(scheduler);
    stop = scheduler->handlers->init ? RAISE_INIT(scheduler) : NULL;
    if (UNLIKELY(stop))
        dispatcher_contain(scheduler, "init", stop, NULL, runs);
    return NULL;
}

/* In the trace, as threads are named. */
static void name(const struct scheduler *scheduler) {
    const char *text = scheduler->name ? scheduler->name : "";
    for (uint16_t part = 0; *text; part++) {
        struct trace_record *record = dispatcher_record(TRACE_NAMED, scheduler->record.policy.number, part);
        for (int i = 0; i < 16 && *text; i++)
            record->payload[i] = *text++;
    }
}

int dispatcher_remove(struct scheduler *scheduler) {
    if (!scheduler->parent || scheduler->leaving)
        return EINVAL;
    if (scheduler->members)
        return EBUSY;
    scheduler->leaving = true;
    dispatcher_gained(scheduler, dispatcher_running());
    return 0;
}

void dispatcher_end(struct scheduler *scheduler) {
    struct scheduler *parent = scheduler->parent, *previous = &dispatcher.root;
    scheduler->record.state = THREAD_ENDED;
    parent->runnable--;
    parent->members--;
    while (previous->next != scheduler)
        previous = previous->next;
    previous->next = scheduler->next;
    if (dispatcher.last == scheduler)
        dispatcher.last = previous;
    const struct catapults_stop *stop = RAISE(parent, exit, &scheduler->record.policy);
    if (UNLIKELY(stop))
        dispatcher_contain(parent, "exit", stop, NULL, NULL);
    TRACE(TRACE_EXITED, &scheduler->record, 0);
    scheduler->next = dispatcher.removed;
    dispatcher.removed = scheduler;
}

struct scheduler *dispatcher_take_removed(void) {
    struct scheduler *scheduler = dispatcher.removed;
    if (scheduler)
        dispatcher.removed = scheduler->next;
    return scheduler;
}

struct scheduler *dispatcher_root(void) { return &dispatcher.root; }

struct scheduler *dispatcher_next_scheduler(const struct scheduler *scheduler) { return scheduler->next; }
