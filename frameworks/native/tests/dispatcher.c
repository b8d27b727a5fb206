/*
 * The dispatcher under a policy that records what is raised, a clock that the tests move, and a driver that they play.
 */
#include <errno.h>

#include "catapults/list.h"
#include "dispatcher/dispatcher.h"
#include "core/thread_record.h"
#include "support/child.h"

/* ---- The policy: a FIFO that writes down its events, and breaks rules when told to ------------------------------- */

static char events[4096];

static void record(const char *event, const struct catapults_thread *t) {
    char line[64];
    snprintf(line, sizeof line, t ? "%s %u; " : "%s; ", event, t ? t->number : 0);
    strncat(events, line, sizeof events - strlen(events) - 1);
}

#define require_events(expected)                                                                                       \
    do {                                                                                                               \
        if (strcmp(events, expected) != 0) {                                                                           \
            fprintf(stderr, "%s:%d: events: %s\n", __FILE__, __LINE__, events);                                        \
            _exit(CHILD_REQUIRE_FAILED);                                                                               \
        }                                                                                                              \
        events[0] = '\0';                                                                                              \
    } while (0)

enum { IN_CURRENT = 1, IN_READY, IN_WAITING };

static struct catapults_list ready;
static const char *stop_in = ""; /* the event that stops */
static struct catapults_stop stop = {CATAPULTS_STOP_GUARD, 51, "`ready` is empty in `ready => current`"};
static struct catapults_thread *mistaken;  /* schedule dispatches this one, once */
static bool lazy;                          /* schedule dispatches nothing */
static struct catapults_thread *favourite; /* when it is ready again, it takes the processor from `current` */
static bool makes_way;                     /* who asks for another loses the processor at once */
static struct catapults_thread *current;
static bool started;

static const struct catapults_stop *stopped(const char *event, const struct catapults_thread *t) {
    record(event, t);
    return strcmp(event, stop_in) == 0 ? &stop : NULL;
}

static void append(struct catapults_thread *t) {
    if (t->container == IN_READY)
        catapults_list_remove(&ready, t);
    catapults_list_append(&ready, t, IN_READY);
}

static const struct catapults_stop *init(void *self) {
    (void)self;
    require(started);
    return stopped("init", NULL);
}

static struct catapults_thread *schedule(void *self, const struct catapults_stop **why) {
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

static void rest(struct catapults_thread *t) {
    if (t->container == IN_READY)
        catapults_list_remove(&ready, t);
    t->container = IN_WAITING;
}

static void front(struct catapults_thread *t) {
    catapults_list_remove(&ready, t);
    catapults_list_push(&ready, t, IN_READY);
}

static void wake(struct catapults_thread *t) {
    append(t);
    if (t == favourite && current && current->container == IN_CURRENT) {
        front(t);
        append(current);
    }
}

static void ask(struct catapults_thread *t) {
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

static int64_t threads(const void *self) {
    (void)self;
    return 77;
}

/* A policy answers what its author likes: the dispatcher keeps its own book. */
static bool is_ready(const void *self, const struct catapults_thread *t) {
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

static void start(void *self) {
    (void)self;
    started = true;
    catapults_list_init(&ready);
}

static void adopt(void *self, struct catapults_thread *t) {
    (void)self;
    t->container = 0;
}

static struct catapults_thread *yield_at_once(void *self, struct catapults_thread *t,
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
    .classes =
        (const uint8_t[]){
            [IN_CURRENT] = CATAPULTS_RUNNING, [IN_READY] = CATAPULTS_READY, [IN_WAITING] = CATAPULTS_BLOCKED},
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

static int64_t now(void) { return clock_now += clock_step; }

static void adopted(struct dispatcher_thread *thread) { require(thread->policy.container == 0); }

static void contained(const struct dispatcher_failure *f) {
    snprintf(failure, sizeof failure, "%s in %s: %s; %d threads", f->policy->name, f->event,
             f->stop ? f->stop->text : f->text, (int)f->threads);
}

static void deadlocked(void) {
    fprintf(stderr, "deadlock of");
    for (struct dispatcher_thread *t = dispatcher_first_thread(); t; t = dispatcher_next_thread(t))
        fprintf(stderr, " %u", t->policy.number);
    _exit(3);
}

static void finished(void) { _exit(4); }

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

static void poll(int64_t instant) {
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

static bool busy(void) { return operation != NULL; }

static const struct dispatcher_driver driver = {.poll = poll, .busy = busy};

/* ---- Threads ----------------------------------------------------------------------------------------------------- */

static struct dispatcher_thread *begin(const struct catapults_policy *policy) {
    static _Alignas(64) char memory[1024], instance[64];
    struct dispatcher_thread *first = (struct dispatcher_thread *)memory;
    require(dispatcher_thread_size(policy) <= sizeof memory);
    dispatcher_set_driver(&driver);
    require(dispatcher_start(&host, policy, instance, first) == NULL);
    return first;
}

static const struct catapults_stop *refused;

static struct dispatcher_thread *spawn(void (*entry)(void *), void *argument) {
    struct stack *stack = stack_take(64 << 10);
    struct dispatcher_thread *thread = (struct dispatcher_thread *)((char *)stack - 512);
    record_clear(thread);
    refused = dispatcher_create(dispatcher_root(), thread, stack, thread, entry, argument);
    return thread;
}

static int steps;

static void yield_twice(void *argument) {
    dispatcher_begin();
    (void)argument;
    for (int i = 0; i < 2; i++) {
        steps++;
        dispatcher_yield();
    }
    dispatcher_exit(NULL);
}

static void block_once(void *argument) {
    dispatcher_begin();
    dispatcher_block(*(enum dispatcher_reason *)argument, DISPATCHER_FOREVER);
    steps++;
    dispatcher_exit(NULL);
}

/* ---- Events ------------------------------------------------------------------------------------------------------ */

static void events_of_a_life(void) {
    begin(&recording);
    require_events("init; newthread 1; schedule; ");
    spawn(yield_twice, NULL);
    require_events("newthread 2; ");
    dispatcher_yield();
    require_events("switch_out 1; schedule; switch_out 2; schedule; ");
    dispatcher_yield();
    require_events("switch_out 1; schedule; switch_out 2; schedule; ");
    dispatcher_yield();
    require_events("switch_out 1; schedule; exit_thread 2; schedule; ");
    dispatcher_yield();
    require_events("switch_out 1; schedule; ");
    require(steps == 2 && dispatcher_threads_ready() == 77);
}

static void every_reason_has_its_event(void) {
    static const char *const names[] = {"block_io_read",    "block_io_write", "block_io_accept",
                                        "block_io_connect", "block_io_file",  "block_lock",
                                        "block_condition",  "block_join",     "block_sleep"};
    begin(&recording);
    for (enum dispatcher_reason reason = BLOCK_IO_READ; reason <= BLOCK_SLEEP; reason++) {
        struct dispatcher_thread *thread = spawn(block_once, &reason);
        uint32_t number = thread->policy.number;
        events[0] = '\0';
        dispatcher_yield();
        char expected[200];
        snprintf(expected, sizeof expected, "switch_out 1; schedule; %s %u; schedule; ", names[reason], number);
        require_events(expected);
        require(core_is_blocked(thread));
        dispatcher_unblock(thread);
        snprintf(expected, sizeof expected, "event_raised %u; ", number);
        require_events(expected);
        dispatcher_yield();
        require(steps == (int)reason + 1);
    }
}

static void suspension(void) {
    struct dispatcher_thread *first = begin(&recording);
    struct dispatcher_thread *other = spawn(yield_twice, NULL);
    events[0] = '\0';
    dispatcher_suspend(other);
    dispatcher_suspend(other);
    dispatcher_yield();
    require_events("suspend_thread 2; switch_out 1; schedule; ");
    require(steps == 0);
    require(dispatcher_resume(other) == 0 && dispatcher_resume(other) == EINVAL && dispatcher_resume(first) == EINVAL);
    require_events("resume_thread 2; ");
    dispatcher_yield();
    require(steps == 1);

    enum dispatcher_reason reason = BLOCK_LOCK;
    struct dispatcher_thread *blocked = spawn(block_once, &reason);
    dispatcher_yield();
    dispatcher_yield();
    events[0] = '\0';
    dispatcher_suspend(blocked);
    require_events("");
    dispatcher_unblock(blocked);
    require_events("event_raised 3; suspend_thread 3; ");
    dispatcher_yield();
    require_events("switch_out 1; schedule; ");
    require(dispatcher_resume(blocked) == 0);
    require_events("resume_thread 3; ");

    blocked = spawn(block_once, &reason);
    dispatcher_yield();
    dispatcher_yield();
    dispatcher_suspend(blocked);
    require(dispatcher_resume(blocked) == 0);
    events[0] = '\0';
    dispatcher_unblock(blocked);
    require_events("event_raised 4; ");
}

static void resume_first(void *argument) {
    dispatcher_begin();
    require(dispatcher_resume(argument) == 0);
    dispatcher_exit(NULL);
}

static void a_thread_suspends_itself(void) {
    struct dispatcher_thread *first = begin(&recording);
    spawn(resume_first, first);
    events[0] = '\0';
    dispatcher_suspend(first);
    require_events("suspend_thread 1; schedule; resume_thread 1; exit_thread 2; schedule; ");
}

static void yield_to(void) {
    struct dispatcher_thread *first = begin(&recording);
    spawn(yield_twice, NULL);
    struct dispatcher_thread *third = spawn(yield_twice, NULL);
    events[0] = '\0';
    require(dispatcher_yield_to(third) == 0);
    require_events("set_next_thread 3; switch_out 1; schedule; switch_out 3; schedule; switch_out 2; schedule; ");
    require(dispatcher_yield_to(first) == EAGAIN);
}

/* A thread that has made way is READY: to raise switch_out would file it twice. */
static void yield_to_under_a_policy_that_preempts(void) {
    begin(&recording);
    struct dispatcher_thread *other = spawn(yield_twice, NULL);
    makes_way = true;
    events[0] = '\0';
    require(dispatcher_yield_to(other) == 0);
    require_events("set_next_thread 2; schedule; switch_out 2; schedule; ");
}

static void a_policy_preempts(void) {
    begin(&recording);
    enum dispatcher_reason reason = BLOCK_LOCK;
    struct dispatcher_thread *other = spawn(block_once, &reason);
    dispatcher_yield();
    favourite = &other->policy;
    events[0] = '\0';
    require(steps == 0);
    dispatcher_unblock(other);
    require(steps == 1);
    require_events("event_raised 2; schedule; exit_thread 2; schedule; ");
}

static void a_refused_thread_never_was(void) {
    begin(&recording);
    stop_in = "newthread";
    stop.why = CATAPULTS_STOP_FAIL;
    spawn(yield_twice, NULL);
    require(refused == &stop && failure[0] == '\0');
    stop_in = "";
    dispatcher_yield();
    require(steps == 0 && dispatcher_next_thread(dispatcher_first_thread()) == NULL);
    spawn(yield_twice, NULL);
    require(refused == NULL);
    dispatcher_yield();
    require(steps == 1);
}

static void spoil(void *argument) {
    dispatcher_begin();
    require(error_number == 0 && exceptions.caught == NULL && exceptions.uncaught == 0);
    error_number = 2;
    exceptions = (struct dispatcher_exceptions){argument, 3};
    dispatcher_yield();
    require(error_number == 2 && exceptions.caught == argument && exceptions.uncaught == 3);
    dispatcher_exit(NULL);
}

static void each_thread_has_its_own_variables(void) {
    begin(&recording);
    spawn(spoil, &steps);
    error_number = 1;
    exceptions = (struct dispatcher_exceptions){events, 1};
    for (int i = 0; i < 3; i++) {
        dispatcher_yield();
        require(error_number == 1 && exceptions.caught == events && exceptions.uncaught == 1);
    }
}

/* ---- Time and the world outside ---------------------------------------------------------------------------------- */

static void timers_raise_threads(void) {
    struct dispatcher_thread *first = begin(&recording);
    require(dispatcher_block(BLOCK_SLEEP, 5000) == ETIMEDOUT && clock_now == 5000);
    require(dispatcher_block(BLOCK_SLEEP, 4000) == ETIMEDOUT && clock_now == 5000);
    operation = first;
    operation_over = 7000;
    require(dispatcher_block(BLOCK_IO_READ, 9000) == 0 && clock_now == 7000);
    require(dispatcher_block(BLOCK_IO_READ, 9500) == ETIMEDOUT && clock_now == 9500);
}

static void operations_are_served_while_others_run(void) {
    struct dispatcher_thread *first = begin(&recording);
    enum dispatcher_reason reason = BLOCK_IO_READ;
    struct dispatcher_thread *other = spawn(block_once, &reason);
    dispatcher_yield();
    /* Long turns: the driver is asked at each decision. */
    clock_step = 0;
    for (int i = 0; i < 2000; i++) {
        clock_now += 1000000;
        dispatcher_yield();
    }
    operation = other;
    operation_over = 0;
    dispatcher_yield();
    dispatcher_yield();
    require(steps == 1);
    /* Short turns: seldom, but before 100 microseconds have passed. */
    other = spawn(block_once, &reason);
    dispatcher_yield();
    for (int i = 0; i < 10000; i++) {
        clock_now += 100;
        dispatcher_yield();
    }
    operation = other;
    operation_over = clock_now;
    polls = 0;
    int64_t before = clock_now;
    while (steps == 1) {
        clock_now += 100;
        dispatcher_yield();
    }
    require(clock_now - before < 100000 && polls <= 2);
    (void)first;
}

static void nothing_can_wake_anyone(void) {
    begin(&recording);
    enum dispatcher_reason reason = BLOCK_LOCK;
    spawn(block_once, &reason);
    spawn(block_once, &reason);
    dispatcher_block(BLOCK_JOIN, DISPATCHER_FOREVER);
}

static void bequeath(void *argument) {
    dispatcher_begin();
    dispatcher_exit(argument);
}

static void an_heir_comes_after_the_end(void) {
    struct dispatcher_thread *first = begin(&recording);
    favourite = &first->policy;
    spawn(bequeath, first);
    events[0] = '\0';
    require(dispatcher_block(BLOCK_JOIN, DISPATCHER_FOREVER) == 0);
    require_events("block_join 1; schedule; exit_thread 2; event_raised 1; schedule; ");
}

static void the_last_thread_ends(void) {
    begin(&recording);
    spawn(yield_twice, NULL);
    dispatcher_exit(NULL);
}

/* ---- Containment ------------------------------------------------------------------------------------------------- */

/* Brings every event about that the policy can stop in. All threads must get through whatever happens. */
static void live(void) {
    struct dispatcher_thread *first = begin(&recording);
    enum dispatcher_reason reason = BLOCK_LOCK;
    struct dispatcher_thread *blocked = spawn(block_once, &reason);
    struct dispatcher_thread *other = spawn(yield_twice, NULL);
    dispatcher_suspend(other);
    while (!core_is_blocked(blocked)) /* after a containment, the first of all threads is the first again */
        dispatcher_yield();
    require(steps == 0);
    require(dispatcher_resume(other) == 0);
    dispatcher_yield_to(other);
    require(steps == 1);
    require(dispatcher_block(BLOCK_SLEEP, clock_now + 10) == ETIMEDOUT);
    dispatcher_unblock(blocked);
    while (dispatcher_next_thread(first))
        dispatcher_yield();
    require(steps == 3);
}

static void live_stopping_in(const char *event) {
    stop_in = event;
    live();
    char expected[200];
    snprintf(expected, sizeof expected, "recording in %s: %s; ", event, stop.text);
    if (strncmp(failure, expected, strlen(expected)) != 0) {
        fprintf(stderr, "reported: %s, expected: %s", failure, expected);
        _exit(CHILD_REQUIRE_FAILED);
    }
    require(strcmp(dispatcher_policy()->name, "fifo (built-in)") == 0);
    require(dispatcher_threads_total() == 1 && dispatcher_threads_ready() == 0 && dispatcher_threads_suspended() == 0);
}

static void stop_in_init(void) { live_stopping_in("init"); }
static void stop_in_newthread(void) { live_stopping_in("newthread"); }
static void stop_in_schedule(void) { live_stopping_in("schedule"); }
static void stop_in_switch_out(void) { live_stopping_in("switch_out"); }
static void stop_in_event_raised(void) { live_stopping_in("event_raised"); }
static void stop_in_suspend_thread(void) { live_stopping_in("suspend_thread"); }
static void stop_in_resume_thread(void) { live_stopping_in("resume_thread"); }
static void stop_in_set_next_thread(void) { live_stopping_in("set_next_thread"); }

/* With a policy that has both events in one. */
static void stop_in_yield(void) {
    recording.yield = yield_at_once;
    live_stopping_in("switch_out");
}

static void stop_in_schedule_of_a_yield(void) {
    recording.yield = yield_at_once;
    begin(&recording);
    spawn(yield_twice, NULL);
    dispatcher_yield();
    require(steps == 1);
    events[0] = '\0';
    stop_in = "schedule";
    dispatcher_yield();
    require_events("switch_out 1; schedule; ");
    require(strncmp(failure, "recording in schedule: ", 23) == 0);
    while (dispatcher_threads_total() > 1)
        dispatcher_yield();
    require(steps == 2);
}

static void fail_in_switch_out(void) {
    stop.why = CATAPULTS_STOP_FAIL;
    live_stopping_in("switch_out");
}

/* Events whose names differ in the framework and in C. */
static void stop_in_block(void) {
    stop_in = "block_lock";
    live();
    require(strcmp(failure, "recording in block.lock: `ready` is empty in `ready => current`; 3 threads") == 0);
}

static void stop_in_exit(void) {
    stop_in = "exit_thread";
    live();
    require(strstr(failure, "recording in exit: ") == failure);
}

static void dispatch_of_a_blocked_thread(void) {
    begin(&recording);
    enum dispatcher_reason reason = BLOCK_LOCK;
    struct dispatcher_thread *blocked = spawn(block_once, &reason);
    dispatcher_yield();
    mistaken = &blocked->policy;
    dispatcher_yield();
    require(strstr(failure, "recording in schedule: it dispatched a thread that is not ready"));
    require(steps == 0);
    dispatcher_unblock(blocked);
    dispatcher_yield();
    require(steps == 1);
}

static void dispatch_of_nothing(void) {
    begin(&recording);
    spawn(yield_twice, NULL);
    lazy = true;
    dispatcher_yield();
    require(strstr(failure, "recording in schedule: it dispatched nothing although a thread is ready"));
    dispatcher_yield();
    require(steps >= 1);
}

static void poll_and_end_laziness(int64_t instant) {
    lazy = false;
    poll(instant);
}

/* A policy may leave the processor idle while something is still to happen. */
static void dispatch_of_nothing_for_now(void) {
    static const struct dispatcher_driver lazy_driver = {.poll = poll_and_end_laziness, .busy = busy};
    begin(&recording);
    dispatcher_set_driver(&lazy_driver);
    enum dispatcher_reason reason = BLOCK_IO_READ;
    operation = spawn(block_once, &reason);
    operation_over = clock_now + 100;
    dispatcher_yield();
    lazy = true;
    dispatcher_yield();
    require(failure[0] == '\0');
}

/* ---- Ends of the process ----------------------------------------------------------------------------------------- */

static void test_deadlock(void **state) {
    (void)state;
    struct child child = run_child(nothing_can_wake_anyone);
    assert_exit(&child, 3);
    assert_string_equal(child.report, "deadlock of 1 2 3");
}

static void test_the_last_thread_ends(void **state) {
    (void)state;
    struct child child = run_child(the_last_thread_ends);
    assert_exit(&child, 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        child_test(events_of_a_life),
        child_test(every_reason_has_its_event),
        child_test(suspension),
        child_test(a_thread_suspends_itself),
        child_test(yield_to),
        child_test(yield_to_under_a_policy_that_preempts),
        child_test(a_policy_preempts),
        child_test(a_refused_thread_never_was),
        child_test(each_thread_has_its_own_variables),
        child_test(an_heir_comes_after_the_end),
        child_test(timers_raise_threads),
        child_test(operations_are_served_while_others_run),
        child_test(stop_in_init),
        child_test(stop_in_newthread),
        child_test(stop_in_schedule),
        child_test(stop_in_switch_out),
        child_test(stop_in_yield),
        child_test(stop_in_schedule_of_a_yield),
        child_test(stop_in_event_raised),
        child_test(stop_in_suspend_thread),
        child_test(stop_in_resume_thread),
        child_test(stop_in_set_next_thread),
        child_test(fail_in_switch_out),
        child_test(stop_in_block),
        child_test(stop_in_exit),
        child_test(dispatch_of_a_blocked_thread),
        child_test(dispatch_of_nothing),
        child_test(dispatch_of_nothing_for_now),
        cmocka_unit_test(test_deadlock),
        cmocka_unit_test(test_the_last_thread_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
