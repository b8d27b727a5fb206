/*
 * What a policy draws: policies/draws.sched tells it. The same seed draws the same, and that is what
 * catapults/random.h says.
 */
#include <stdlib.h>

#include "catapults.h"
#include "catapults/random.h"
#include "support/child.h"

/* Yields, and looks at what was drawn; from the beginning of the sequence of a seed. */
static void draws_of(uint64_t seed) {
    static catapults_int drawn;
    require(catapults_schedvar_register("drawn", &drawn) == 0);
    struct catapults_random random;
    catapults_random_seed(&random, seed);
    for (int i = 0; i < 100; i++) {
        catapults_yield();
        require(drawn == catapults_random(&random, 1000000));
    }
}

static void begin(uint64_t seed) {
    require(catapults_init(&(struct catapults_options){.policy = POLICIES "/draws.so", .seed = seed}) == 0);
}

static void by_default_the_seed_is_1(void) {
    begin(0);
    draws_of(1);
}

static void the_option_says_it(void) {
    setenv("CATAPULTS_RANDOM_SEED", "8", 1);
    begin(UINT64_MAX);
    draws_of(UINT64_MAX);
}

static void the_environment_says_it(void) {
    setenv("CATAPULTS_RANDOM_SEED", "18446744073709551615", 1);
    begin(0);
    draws_of(UINT64_MAX);
}

static void a_policy_that_comes_later_begins_with_it(void) {
    require(catapults_init(&(struct catapults_options){.seed = 5}) == 0);
    require(catapults_policy_replace(NULL, POLICIES "/draws.so") == 0);
    draws_of(5);
}

static void nonsense(void) {
    setenv("CATAPULTS_RANDOM_SEED", "0", 1);
    begin(0);
    draws_of(1);
}

static void nonsense_is_reported(void **state) {
    (void)state;
    struct child child = run_child(nonsense);
    assert_exit(&child, EXIT_SUCCESS);
    assert_reported(&child, "CATAPULTS_RANDOM_SEED is \"0\": it must be a number from 1 to 18446744073709551615\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        child_test(by_default_the_seed_is_1),   child_test(the_option_says_it),
        child_test(the_environment_says_it),    child_test(a_policy_that_comes_later_begins_with_it),
        cmocka_unit_test(nonsense_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
