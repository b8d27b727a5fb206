/*
 * What a policy is told of time, as policies/clock.sched hears it: the instant of each event, and how long each thread
 * has run, and all of them. clock_compiled_in.c has the same policy within the dispatcher.
 */
#include <errno.h>

#include "catapults.h"
#include "support/child.h"

#ifndef POLICY
#define POLICY POLICIES "/clock.so"
#endif

enum { MS = 1000000 };

struct worker {
    bool other;
    catapults_time spent;
    int64_t created;
};

static catapults_time seen, used;

static void begin(void) {
    require(catapults_init(&(struct catapults_options){.policy = POLICY}) == 0);
    require(strcmp(catapults_policy_name(), "clock") == 0);
    require(catapults_schedvar_register_time("seen", &seen) == 0);
    require(catapults_schedvar_register_time("used", &used) == 0);
    require(catapults_threadvar_register_time("spent", struct worker, spent) == 0);
}

static void work(int64_t nanoseconds) {
    for (int64_t end = catapults_now() + nanoseconds; catapults_now() < end;)
        ;
}

static void an_event_has_its_instant(void) {
    begin();
    int64_t before = catapults_now();
    catapults_yield();
    int64_t after = catapults_now();
    require(before <= seen && seen <= after);
    work(2 * MS);
    require(seen <= after);
    catapults_yield();
    require(after + 2 * MS <= seen);
    before = catapults_now();
    int64_t answer = catapults_threads_ready();
    require(before <= answer && answer <= catapults_now());
}

/* Sleeps, at no cost. Whoever is kept from it by the kernel pays until it sleeps, and so tries again. */
static void nap(const struct worker *self) {
    for (int tries = 1;; tries++) {
        catapults_yield();
        catapults_time before = self->spent, of_all = used;
        catapults_sleep(30 * MS);
        if (self->spent - before < 15 * MS && used - of_all < 15 * MS)
            return;
        require(tries < 100);
    }
}

static void *works(void *argument) {
    struct worker *self = argument;
    work(3 * MS);
    catapults_yield();
    catapults_time first = self->spent;
    require(first >= 3 * MS);
    nap(self);
    require(self->spent >= first && self->spent <= catapults_now() - self->created);
    work(3 * MS);
    catapults_suspend(catapults_self());
    require(self->spent >= first + 3 * MS);
    return NULL;
}

static void a_thread_has_what_it_has_run(void) {
    int64_t start = catapults_now();
    begin();
    struct worker worker = {.created = catapults_now()}, idler = {.created = start};
    catapults_set_object(catapults_self(), &idler);
    catapults_t thread;
    require(catapults_create(&thread, &(struct catapults_attributes){.object = &worker}, works, &worker) == 0);
    require(worker.spent == 0);
    int64_t before = used;
    start = catapults_now();
    do
        nap(&idler);
    while (catapults_resume(thread) == EINVAL); /* on a loaded machine it is not there yet */
    require(catapults_join(thread, NULL) == 0);
    require(used >= before + 6 * MS && used - before <= catapults_now() - start);
    require(worker.spent >= 6 * MS);
    require(idler.spent + worker.spent <= catapults_now() - idler.created); /* nobody is charged for another */
}

static void nobody_else_keeps_it(void) {
    begin();
    require(catapults_threadvar_register_time("consumed", struct worker, spent) == EEXIST);
    require(catapults_schedvar_register_time("consumed", &used) == EEXIST);
    for (int at_parent = 0; at_parent < 2; at_parent++) {
        struct catapults_hierarchy_parameter parameter = {
            .name = "consumed", .type = CATAPULTS_IMPORT_TIME, .at_parent = at_parent};
        struct catapults_scheduler_attributes attributes = {
            .name = "below", .policy = POLICIES "/clock.so", .parameters = &parameter, .parameters_count = 1};
        require(catapults_scheduler_add(&(catapults_scheduler_t){0}, &attributes) == EINVAL);
    }
    require(catapults_threadvar_register("spent", struct { catapults_int spent; }, spent) == EINVAL);
}

static void test_instant(void **state) {
    (void)state;
    check_child(an_event_has_its_instant);
}

static void test_consumed(void **state) {
    (void)state;
    check_child(a_thread_has_what_it_has_run);
}

static void test_registering(void **state) {
    (void)state;
    struct child child = run_child(nobody_else_keeps_it);
    assert_int_equal(child.status, 0);
    assert_non_null(strstr(child.report, "the application registers `consumed`, which the runtime itself keeps"));
    assert_non_null(strstr(child.report, "below has a parameter `consumed`, which the runtime itself keeps"));
    assert_non_null(strstr(child.report, "imports `spent` as time, the application registers it as int"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_instant),
        cmocka_unit_test(test_consumed),
        cmocka_unit_test(test_registering),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
