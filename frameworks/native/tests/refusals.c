/*
 * Reasons with values: each caller keeps its own, whoever else is refused meanwhile.
 */
#include <errno.h>

#include "processors_test.h"

static void *nothing(void *argument) { return argument; }

static int ask(catapults_int weight) {
    struct catapults_value value = catapults_value_int("weight", weight);
    struct catapults_attributes attributes = {.values = &value, .values_count = 1, .detached = true};
    return catapults_create(NULL, &attributes, nothing, NULL);
}

static void a_reason_says_its_values(void) {
    begin(1, POLICIES "/says.so");
    require(ask(100) == EAGAIN);
    require(strcmp(catapults_refusal(), "100 and 1 are more than 100") == 0);
    require(ask(INT64_MAX - 1) == EAGAIN);
    require(strcmp(catapults_refusal(), "9223372036854775806 and 1 are more than 100") == 0);
    require(ask(99) == 0);
    require(catapults_refusal() == NULL);
}

static void *be_refused(void *argument) {
    catapults_int own = (intptr_t)argument;
    char expected[32];
    snprintf(expected, sizeof expected, "%lld and ", (long long)own);
    for (int i = 0; i < 20000; i++) {
        require(ask(own) == EAGAIN);
        require(strncmp(catapults_refusal(), expected, strlen(expected)) == 0);
        if (i % 100 == 0)
            catapults_yield();
    }
    return argument;
}

static void several_are_refused_at_once(void) {
    begin(3, POLICIES "/says.so");
    catapults_t threads[3];
    for (intptr_t i = 0; i < 3; i++)
        threads[i] = spawn(be_refused, (void *)(1000 + 1000000 * i));
    for (int i = 0; i < 3; i++)
        require(catapults_join(threads[i], NULL) == 0);
}

static void who_moves_is_refused(void) {
    begin(1, NULL);
    catapults_scheduler_t under;
    struct catapults_scheduler_attributes scheduler = {.name = "under", .policy = POLICIES "/says.so"};
    require(catapults_scheduler_add(&under, &scheduler) == 0);
    struct catapults_value value = catapults_value_int("weight", 100);
    struct catapults_attributes attributes = {.scheduler = under, .values = &value, .values_count = 1};
    catapults_t thread;
    require(catapults_create(&thread, &attributes, nothing, NULL) == 0);
    require(catapults_scheduler_attach(under) == EAGAIN);
    require(strcmp(catapults_refusal(), "1 and 100 are more than 100") == 0);
    require(catapults_join(thread, NULL) == 0);
    require(catapults_scheduler_attach(under) == 0);
}

static void a_policy_that_is_not_taken_has_said_why(void) {
    begin(1, NULL);
    catapults_t threads[100];
    for (int i = 0; i < 100; i++)
        threads[i] = spawn(nothing, NULL);
    require(catapults_policy_replace(NULL, POLICIES "/says.so") == EAGAIN);
    require(strcmp(catapults_refusal(), "1 and 100 are more than 100") == 0);
    for (int i = 0; i < 100; i++)
        require(catapults_join(threads[i], NULL) == 0);
    require(catapults_policy_replace(NULL, POLICIES "/says.so") == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        child_test(a_reason_says_its_values),
        child_test(several_are_refused_at_once),
        child_test(who_moves_is_refused),
        child_test(a_policy_that_is_not_taken_has_said_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
