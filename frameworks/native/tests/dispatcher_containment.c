/*
 * Containment: a policy that stops in an event or breaks a rule is reported and replaced by the built-in one, and no
 * thread is lost.
 */
#include "dispatcher_test.h"

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

int main(void) {
    const struct CMUnitTest tests[] = {
        child_test(stop_in_init),          child_test(stop_in_newthread),
        child_test(stop_in_schedule),      child_test(stop_in_switch_out),
        child_test(stop_in_yield),         child_test(stop_in_schedule_of_a_yield),
        child_test(stop_in_event_raised),  child_test(stop_in_suspend_thread),
        child_test(stop_in_resume_thread), child_test(stop_in_set_next_thread),
        child_test(fail_in_switch_out),    child_test(stop_in_block),
        child_test(stop_in_exit),          child_test(dispatch_of_a_blocked_thread),
        child_test(dispatch_of_nothing),   child_test(dispatch_of_nothing_for_now),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
