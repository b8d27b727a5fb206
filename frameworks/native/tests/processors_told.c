/*
 * What policies are told of threads, with two processors: of a thread that runs on another, or waits for one, or is in
 * the instance of another.
 */
#include "support/jobs.h"

static void begin(const char *policy) {
    require(catapults_init(&(struct catapults_options){.policy = policy, .processors = 2}) == 0);
}

/* ---- Of jobs ----------------------------------------------------------------------------------------------------- */

static void jobs_of_many(void) {
    begin(POLICIES "/jobs.so");
    many();
}

static void jobs_in_their_instances(void) {
    begin(POLICIES "/jobs_at_nodes.so");
    many();
}

static void jobs_of_a_scheduler_below(void) {
    begin(POLICIES "/urgency.so");
    below();
}

/* ---- Of variables ------------------------------------------------------------------------------------------------ */

enum { CHANGED = 4, ROUNDS = 400 };

static catapults_t threads[CHANGED];
static _Atomic bool done;

static void *come_and_go(void *argument) {
    for (unsigned random = 1; !done;)
        if (rand_r(&random) % 4 == 0)
            catapults_sleep(10000);
        else
            catapults_yield();
    return argument;
}

static void *change_all(void *seed_) {
    unsigned seed = (unsigned)(uintptr_t)seed_;
    for (int i = 0; i < ROUNDS; i++) {
        catapults_t thread = rand_r(&seed) % 5 ? threads[rand_r(&seed) % CHANGED] : catapults_self();
        struct catapults_value priority = catapults_value_int("priority", rand_r(&seed) % 5);
        require(catapults_set_values(thread, &priority, 1) == 0);
        if (rand_r(&seed) % 8 == 0)
            catapults_sleep(1000);
    }
    return NULL;
}

static void change_each_other(const char *policy) {
    begin(policy);
    for (int i = 0; i < CHANGED; i++)
        require(catapults_create(&threads[i], NULL, come_and_go, NULL) == 0);
    catapults_t changing[2];
    for (uintptr_t i = 0; i < 2; i++)
        require(catapults_create(&changing[i], NULL, change_all, (void *)i) == 0);
    change_all((void *)2);
    for (int i = 0; i < 2; i++)
        require(catapults_join(changing[i], NULL) == 0);
    done = true;
    for (int i = 0; i < CHANGED; i++)
        require(catapults_join(threads[i], NULL) == 0);
}

/* None of them can keep the processor, and none is lost. */
static void several_change_each_other(void) { change_each_other(POLICIES "/of_the_library/fixed_priority.so"); }

static void several_change_each_other_in_their_instances(void) { change_each_other(POLICIES "/jobs_at_nodes.so"); }

int main(void) {
    const struct CMUnitTest tests[] = {
        child_test(jobs_of_many),
        child_test(jobs_in_their_instances),
        child_test(jobs_of_a_scheduler_below),
        child_test(several_change_each_other),
        child_test(several_change_each_other_in_their_instances),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
