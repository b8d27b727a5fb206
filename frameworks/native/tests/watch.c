/*
 * Handlers that do not end: policies/endless.c, forever.sched.
 */
#include "catapults.h"
#include "support/child.h"

enum { MILLISECOND = 1000000 };

static catapults_int endless;
static int turns[2];
static bool stop;

static void *count(void *turns) {
    while (!stop) {
        ++*(int *)turns;
        if (*(int *)turns % 5 == 0)
            catapults_sleep(100000);
        else
            catapults_yield();
    }
    return turns;
}

static void begin(void) {
    require(catapults_init(
                &(struct catapults_options){.policy = POLICIES "/endless.so", .handler_limit = 20 * MILLISECOND}) == 0);
    require(catapults_schedvar_register("endless", &endless) == 0);
}

static catapults_int which;

static void one_does_not_end(void) {
    begin();
    catapults_t threads[2];
    for (int i = 0; i < 2; i++)
        require(catapults_create(&threads[i], NULL, count, &turns[i]) == 0);
    while (turns[0] < 20 || turns[1] < 20)
        catapults_yield();
    require(strcmp(catapults_policy_name(), "endless") == 0);
    endless = which;
    catapults_t third;
    require(catapults_create(&third, NULL, count, &turns[0]) == 0);
    catapults_threads_total();
    require(catapults_detach(third) == 0);
    if (which == 6) /* `exit` */
        stop = true;
    for (int i = 0; i < 20; i++) {
        catapults_yield();
        catapults_sleep(100000);
    }
    endless = 0;
    require(strcmp(catapults_policy_name(), "fifo (built-in)") == 0);
    int before[] = {turns[0], turns[1]};
    while (!stop && (turns[0] < before[0] + 20 || turns[1] < before[1] + 20))
        catapults_yield();
    stop = true;
    for (int i = 0; i < 2; i++)
        require(catapults_join(threads[i], NULL) == 0);
}

static void handlers_that_do_not_end_are_left(void **state) {
    (void)state;
    static const char *const events[] = {NULL,       "newthread", "switch_out", NULL,
                                         "schedule", NULL,        "exit",       "threads_total"};
    for (which = 1; which <= 7; which++) {
        struct child child = run_child(one_does_not_end);
        assert_exit(&child, EXIT_SUCCESS);
        assert_reported(&child, "policy endless: the handler of `");
        assert_reported(&child, "endless.sched ran for longer than 20 ms, and was left; ");
        if (events[which]) {
            char text[64];
            snprintf(text, sizeof text, "the handler of `%s`", events[which]);
            assert_reported(&child, text);
        }
    }
}

static void give_up_for_ever(void) {
    require(catapults_init(
                &(struct catapults_options){.policy = POLICIES "/forever.so", .handler_limit = 20 * MILLISECOND}) == 0);
    require(catapults_schedvar_register("endless", &endless) == 0);
    endless = 1;
    catapults_yield();
    require(strcmp(catapults_policy_name(), "fifo (built-in)") == 0);
}

static void the_line_of_the_handler_is_named(void **state) {
    (void)state;
    struct child child = run_child(give_up_for_ever);
    assert_exit(&child, EXIT_SUCCESS);
    assert_reported(&child,
                    "policy forever: the handler of `switch_out` in forever.sched:13 ran for longer than 20 ms");
}

static void spin(int64_t duration) {
    for (int64_t end = catapults_now() + duration; catapults_now() < end;)
        ;
}

/* It is not the policy that runs on. */
static void long_turns_are_no_overrun(void) {
    begin();
    catapults_t thread;
    require(catapults_create(&thread, NULL, count, &turns[0]) == 0);
    for (int i = 0; i < 5; i++) {
        catapults_yield();
        spin(60 * MILLISECOND);
    }
    require(strcmp(catapults_policy_name(), "endless") == 0);
    stop = true;
    require(catapults_join(thread, NULL) == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(handlers_that_do_not_end_are_left),
        cmocka_unit_test(the_line_of_the_handler_is_named),
        child_test(long_turns_are_no_overrun),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
