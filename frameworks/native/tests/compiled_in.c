/*
 * A policy compiled into the dispatcher (the Makefile links such a dispatcher into this test): it is in force without
 * being asked for, gives way to one that is, and to the built-in FIFO when its guard fails.
 */
#include <string.h>

#include "catapults.h"
#include "support/child.h"

static catapults_int connections, decisions;

static void *yield(void *argument) {
    for (int i = 0; i < 3; i++)
        catapults_yield();
    return argument;
}

static void is_in_force(void) {
    require(catapults_init(NULL) == 0);
    require(strcmp(catapults_policy_name(), "bytes") == 0);
    require(catapults_schedvar_register("decisions", &decisions) == 0);
    catapults_t thread;
    require(catapults_create(&thread, NULL, yield, NULL) == 0 && catapults_join(thread, NULL) == 0);
    require(decisions == 5);
}

static void gives_way_to_a_loaded_one(void) {
    require(catapults_init(&(struct catapults_options){.policy = POLICIES "/large.so"}) == 0);
    require(catapults_schedvar_register("decisions", &decisions) == 0);
    catapults_t thread;
    require(catapults_create(&thread, NULL, yield, NULL) == 0 && catapults_join(thread, NULL) == 0);
    require(decisions == 5);
}

static void a_guard_fails(void) {
    require(catapults_init(NULL) == 0);
    require(catapults_schedvar_register("connections", &connections) == 0);
    catapults_t threads[3];
    void *result;
    for (int i = 0; i < 3; i++)
        require(catapults_create(&threads[i], NULL, yield, &threads[i]) == 0);
    catapults_yield();
    connections = 13;
    for (int i = 0; i < 3; i++)
        require(catapults_join(threads[i], &result) == 0 && result == &threads[i]);
    require(strcmp(catapults_policy_name(), "fifo (built-in)") == 0 && catapults_threads_total() == 1);
}

static void gives_way_to_the_built_in_fifo(void **state) {
    (void)state;
    struct child child = run_child(a_guard_fails);
    assert_exit(&child, EXIT_SUCCESS);
    assert_reported(&child, "policy bytes: guard failed at bytes.sched:51: `ready` is empty in `ready => current`; 4 "
                            "threads continue under the built-in FIFO\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        child_test(is_in_force),
        child_test(gives_way_to_a_loaded_one),
        cmocka_unit_test(gives_way_to_the_built_in_fifo),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
