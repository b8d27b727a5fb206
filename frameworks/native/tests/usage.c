/*
 * A policy that computes with fractions, policies/usage.sched, and the variables that it imports. usage_compiled_in.c
 * has the same policy within the dispatcher.
 */
#include <errno.h>
#include <math.h>

#include "catapults.h"
#include "support/child.h"

#ifndef POLICY
#define POLICY POLICIES "/usage.so"
#endif

struct worker {
    bool other;
    double weight, seen;
    catapults_time last;
    int turns;
};

static double decay;

static void begin(void) {
    require(catapults_init(&(struct catapults_options){.policy = POLICY}) == 0);
    require(strcmp(catapults_policy_name(), "usage") == 0);
    require(catapults_schedvar_register_float("decay", &decay) == 0);
    require(catapults_threadvar_register_float("weight", struct worker, weight) == 0);
    require(catapults_threadvar_register_float("seen", struct worker, seen) == 0);
    require(catapults_threadvar_register_time("last", struct worker, last) == 0);
}

static double used_after_a_turn(const struct worker *worker) {
    int64_t before = catapults_now();
    catapults_yield();
    require(before <= worker->last && worker->last <= catapults_now());
    return worker->seen;
}

static void what_is_no_number_is_read_as_0(void) {
    begin();
    struct worker self = {.weight = 4};
    catapults_set_object(catapults_self(), &self);
    decay = 0.5;
    require(used_after_a_turn(&self) == 0.25);
    require(used_after_a_turn(&self) == 0.375);
    decay = NAN;
    require(used_after_a_turn(&self) == 0.25);
    self.weight = -NAN;
    require(used_after_a_turn(&self) == INFINITY); /* 1 / 0 */
    decay = 0;                                     /* times infinity */
    self.weight = -4;
    require(used_after_a_turn(&self) == -0.25);
    catapults_set_object(catapults_self(), NULL); /* the default, 1, holds */
    catapults_yield();
    decay = 1;
    self.weight = 2;
    catapults_set_object(catapults_self(), &self);
    require(used_after_a_turn(&self) == 1.5);
}

static int turns;

static void *take_turns(void *argument) {
    struct worker *self = argument;
    for (; turns < 700; turns++) {
        self->turns++;
        catapults_yield();
    }
    return NULL;
}

static void turns_are_shared_by_weight(void) {
    begin();
    decay = 1;
    struct worker workers[3] = {{.weight = 1}, {.weight = 2}, {.weight = 4}};
    catapults_t threads[3];
    for (int i = 0; i < 3; i++)
        require(catapults_create(&threads[i], &(struct catapults_attributes){.object = &workers[i]}, take_turns,
                                 &workers[i]) == 0);
    for (int i = 0; i < 3; i++)
        require(catapults_join(threads[i], NULL) == 0);
    for (int i = 0; i < 3; i++)
        require(abs(workers[i].turns - (100 << i)) <= 2);
}

static void other_types(void) {
    static catapults_int number;
    begin();
    require(catapults_schedvar_register("decay", &number) == EINVAL);
    require(catapults_threadvar_register_float("last", struct worker, weight) == EINVAL);
    require(catapults_threadvar_register_time("weight", struct worker, last) == EINVAL);
}

static void other_types_are_refused(void **state) {
    (void)state;
    struct child child = run_child(other_types);
    assert_exit(&child, EXIT_SUCCESS);
    assert_reported(&child, "imports `decay` as float, the application registers it as int");
    assert_reported(&child, "imports `last` as time, the application registers it as float");
    assert_reported(&child, "imports `weight` as float, the application registers it as time");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        child_test(what_is_no_number_is_read_as_0),
        child_test(turns_are_shared_by_weight),
        cmocka_unit_test(other_types_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
