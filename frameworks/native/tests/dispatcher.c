/*
 * The dispatcher, under a policy that records what is raised: which events there are, in which order, what timers and
 * the driver raise, and how the process ends.
 */
#include "dispatcher_test.h"

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
        cmocka_unit_test(test_deadlock),
        cmocka_unit_test(test_the_last_thread_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
