/*
 * What the tests of the dispatcher share: a policy that records what is raised, a clock that the tests move, and a
 * driver that they play.
 */
#ifndef DISPATCHER_TEST_H
#define DISPATCHER_TEST_H

#include <errno.h>

#include "catapults/list.h"
#include "core/thread_record.h"
#include "dispatcher/dispatcher.h"
#include "support/child.h"
#include "support/places.h"
#include "support/recorded_events.h"

/* ---- The policy: a FIFO that writes down its events, and breaks rules when told to ------------------------------- */

static inline void record(const char *event, const struct catapults_thread *t) {
    char line[64];
    snprintf(line, sizeof line, t ? "%s %u; " : "%s; ", event, t ? t->number : 0);
    record_event(line);
}

static struct catapults_list ready;
static const char *stop_in = ""; /* the event that stops */
static struct catapults_stop stop = {CATAPULTS_STOP_GUARD, 51, "`ready` is empty in `ready => current`"};
static struct catapults_thread *mistaken;  /* schedule dispatches this one, once */
static bool lazy;                          /* schedule dispatches nothing */
static struct catapults_thread *favourite; /* when it is ready again, it takes the processor from `current` */
static bool makes_way;                     /* who asks for another loses the processor at once */
static struct catapults_thread *current;
static bool started;

static inline const struct catapults_stop *stopped(const char *event, const struct catapults_thread *t) {
    record(event, t);
    return strcmp(event, stop_in) == 0 ? &stop : NULL;
}

static inline void append(struct catapults_thread *t) {
    if (t->container == IN_READY)
        catapults_list_remove(&ready, t);
    catapults_list_append(&ready, t, IN_READY);
}

static inline const struct catapults_stop *init(void *self) {
    (void)self;
    require(started);
    return stopped("init", NULL);
}

static inline struct catapults_thread *schedule(void *self, const struct catapults_stop **why) {
    (void)self;
    *why = stopped("schedule", NULL);
    if (*why || lazy || !ready.first)
        return NULL;
    struct catapults_thread *t = mistaken;
    mistaken = NULL;
    if (!t)
        t = catapults_list_pop(&ready);
    t->container = IN_CURRENT;
    return current = t;
}

#define HANDLER(name, effect)                                                                                          \
    static const struct catapults_stop *name(void *self, struct catapults_thread *t) {                                 \
        (void)self;                                                                                                    \
        const struct catapults_stop *why = stopped(#name, t);                                                          \
        if (!why) {                                                                                                    \
            effect;                                                                                                    \
        }                                                                                                              \
        return why;                                                                                                    \
    }

static inline void rest(struct catapults_thread *t) {
    if (t->container == IN_READY)
        catapults_list_remove(&ready, t);
    t->container = IN_WAITING;
}

static inline void front(struct catapults_thread *t) {
    catapults_list_remove(&ready, t);
    catapults_list_push(&ready, t, IN_READY);
}

static inline void wake(struct catapults_thread *t) {
    append(t);
    if (t == favourite && current && current->container == IN_CURRENT) {
        front(t);
        append(current);
    }
}

static inline void ask(struct catapults_thread *t) {
    front(t);
    if (makes_way)
        append(current);
}

HANDLER(newthread, append(t))
HANDLER(switch_out, append(t))
HANDLER(event_raised, wake(t))
HANDLER(resume_thread, wake(t))
HANDLER(suspend_thread, rest(t))
HANDLER(set_next_thread, ask(t))
HANDLER(exit_thread, t->container = 0)
HANDLER(block_io_read, rest(t))
HANDLER(block_io_write, rest(t))
HANDLER(block_io_accept, rest(t))
HANDLER(block_io_connect, rest(t))
HANDLER(block_io_file, rest(t))
HANDLER(block_lock, rest(t))
HANDLER(block_condition, rest(t))
HANDLER(block_join, rest(t))
HANDLER(block_sleep, rest(t))
HANDLER(block_kernel, rest(t))
HANDLER(block_scheduler, rest(t))
HANDLER(block_port, rest(t))
HANDLER(block_signal, rest(t))

static inline int64_t threads(const void *self) {
    (void)self;
    return 77;
}

/* A policy answers what its author likes: the dispatcher keeps its own book. */
static inline bool is_ready(const void *self, const struct catapults_thread *t) {
    (void)self, (void)t;
    return true;
}

static const struct native_handlers handlers = {
    init,
    newthread,
    schedule,
    switch_out,
    block_io_read,
    block_io_write,
    block_io_accept,
    block_io_connect,
    block_io_file,
    block_lock,
    block_condition,
    block_join,
    block_sleep,
    block_kernel,
    block_scheduler,
    block_port,
    block_signal,
    event_raised,
    suspend_thread,
    resume_thread,
    set_next_thread,
    NULL,
    NULL,
    NULL,
    exit_thread,
    threads,
    threads,
    threads,
    is_ready,
    is_ready,
    NULL,
    NULL,
    NULL,
    NULL,
    NULL,
};

static inline void start(void *self) {
    (void)self;
    started = true;
    catapults_list_init(&ready);
}

static inline void adopt(void *self, struct catapults_thread *t) {
    (void)self;
    t->container = 0;
}

static inline struct catapults_thread *yield_at_once(void *self, struct catapults_thread *t,
                                                     const struct catapults_stop **why) {
    const struct catapults_stop *stopped = switch_out(self, t);
    if (stopped) {
        *why = stopped;
        return t;
    }
    return schedule(self, why);
}

static struct catapults_policy recording = {
    .name = "recording",
    .source = "recording.sched",
    .classes = CLASSES,
    .thread_size = sizeof(struct catapults_thread) + 160,
    .start = start,
    .adopt = adopt,
    .handlers = &handlers,
};

/* ---- The host ---------------------------------------------------------------------------------------------------- */

static int64_t clock_now = 1000;
static int64_t clock_step; /* by which every look at it moves it */
static int error_number;
static struct dispatcher_exceptions exceptions;
static char failure[512];

static inline int64_t now(void) { return clock_now += clock_step; }

static inline void adopted(struct dispatcher_thread *thread) { require(thread->policy.container == 0); }

static inline void contained(const struct dispatcher_failure *f) {
    snprintf(failure, sizeof failure, "%s in %s: %s; %d threads", f->policy->name, f->event,
             f->stop ? f->stop->text : f->text, (int)f->threads);
}

static inline void deadlocked(void) {
    fprintf(stderr, "deadlock of");
    for (struct dispatcher_thread *t = dispatcher_first_thread(); t; t = dispatcher_next_thread(t))
        fprintf(stderr, " %u", t->policy.number);
    _exit(3);
}

static inline void finished(void) { _exit(4); }

static const struct dispatcher_host host = {.now = now,
                                            .error_number = &error_number,
                                            .exceptions = &exceptions,
                                            .adopted = adopted,
                                            .contained = contained,
                                            .deadlocked = deadlocked,
                                            .finished = finished};

/* ---- The driver: one operation at most, over when the clock says so ---------------------------------------------- */

static struct dispatcher_thread *operation;
static int64_t operation_over;
static int polls;

static inline void poll(int64_t instant) {
    polls++;
    if (operation && operation_over <= instant && clock_now < operation_over)
        clock_now = operation_over;
    if (operation && clock_now >= operation_over) {
        struct dispatcher_thread *thread = operation;
        operation = NULL;
        dispatcher_unblock(thread);
    } else if (clock_now < instant) {
        require(instant != DISPATCHER_FOREVER);
        clock_now = instant;
    }
}

static inline bool busy(void) { return operation != NULL; }

static const struct dispatcher_driver driver = {.poll = poll, .busy = busy};

/* ---- Threads ----------------------------------------------------------------------------------------------------- */

static inline struct dispatcher_thread *begin(const struct catapults_policy *policy) {
    static _Alignas(64) char memory[1024], instance[64];
    struct dispatcher_thread *first = (struct dispatcher_thread *)memory;
    require(dispatcher_thread_size(policy) <= sizeof memory);
    dispatcher_set_driver(&driver);
    require(dispatcher_start(&host, policy, instance, first) == NULL);
    return first;
}

static const struct catapults_stop *refused;

static inline struct dispatcher_thread *spawn(void (*entry)(void *), void *argument) {
    struct stack *stack = stack_take(64 << 10);
    struct dispatcher_thread *thread = (struct dispatcher_thread *)((char *)stack - 512);
    record_clear(thread);
    refused = dispatcher_create(dispatcher_root(), thread, stack, thread, entry, argument);
    return thread;
}

static int steps;

static inline void yield_twice(void *argument) {
    dispatcher_begin();
    (void)argument;
    for (int i = 0; i < 2; i++) {
        steps++;
        dispatcher_yield();
    }
    dispatcher_exit(NULL);
}

static inline void block_once(void *argument) {
    dispatcher_begin();
    dispatcher_block(*(enum dispatcher_reason *)argument, DISPATCHER_FOREVER);
    steps++;
    dispatcher_exit(NULL);
}

#endif
