/*
 * The timers of a policy (policies/timeouts.sched): they expire while nothing is ready, while threads take turns, and
 * never once their thread has ended; they keep no program alive.
 */
#include <errno.h>

#include "catapults.h"
#include "support/child.h"

enum { MS = 1000000 };

static catapults_int expired;
static catapults_time latest;
static int64_t begun;

static void begin(void) {
    begun = catapults_now();
    require(catapults_init(&(struct catapults_options){.policy = POLICIES "/timeouts.so"}) == 0);
    require(catapults_schedvar_register("expired", &expired) == 0);
    require(catapults_schedvar_register_time("latest", &latest) == 0);
}

/* What the timers of one thread can have expired since: more on a machine that has other things to do. */
static catapults_int most(void) { return (catapults_now() - begun) / (10 * MS); }

/* The processor idles until the earliest instant, and no longer: else one expires at the end of each sleep. A machine
 * that has other things to do may need a longer one. */
static void they_end_the_wait(void) {
    begin();
    catapults_int before = 0;
    for (int64_t length = 105 * MS; length < INT64_C(20000) * MS && expired < before + 5; length *= 2) {
        before = expired;
        catapults_sleep(length);
    }
    require(expired >= before + 5 && expired <= most());
    require(latest >= 0);
}

static void *take_turns(void *argument) {
    while (expired < 10)
        catapults_yield();
    return argument;
}

/* Two threads that leave the processor no rest: the timers of both expire all the same. */
static void they_expire_between_turns(void) {
    begin();
    catapults_t thread;
    require(catapults_create(&thread, NULL, take_turns, NULL) == 0);
    take_turns(NULL);
    require(expired <= 2 * most());
    require(catapults_join(thread, NULL) == 0);
}

static void *nothing(void *argument) { return argument; }

/* A thread that has ended has no timers. */
static void they_end_with_their_thread(void) {
    begin();
    for (int i = 0; i < 20; i++) {
        catapults_t thread;
        require(catapults_create(&thread, NULL, nothing, NULL) == 0);
        require(catapults_join(thread, NULL) == 0);
    }
    catapults_sleep(45 * MS);
    require(expired <= 2 * most()); /* of the first thread; and of the others together, one after another */
}

/* A program in which nobody can ever go on is at its end, whatever timers there are. */
static void they_wake_nobody(void) {
    begin();
    catapults_suspend(catapults_self());
}

static void test_waiting(void **state) {
    (void)state;
    assert_int_equal(run_child(they_end_the_wait).status, 0);
}

static void test_turns(void **state) {
    (void)state;
    assert_int_equal(run_child(they_expire_between_turns).status, 0);
}

static void test_ending(void **state) {
    (void)state;
    assert_int_equal(run_child(they_end_with_their_thread).status, 0);
}

static void test_deadlock(void **state) {
    (void)state;
    struct child child = run_child(they_wake_nobody);
    assert_int_not_equal(child.status, 0);
    assert_non_null(strstr(child.report, "deadlock"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_waiting),
        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_ending),
        cmocka_unit_test(test_deadlock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
