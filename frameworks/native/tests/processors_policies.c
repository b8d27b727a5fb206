/*
 * Policies of several processors that break a guard, run for too long, or are replaced, while threads run on all of
 * them.
 */
#include "processors_test.h"

static atomic_bool go_on;

static void *yield_on(void *argument) {
    while (!atomic_load(&go_on))
        catapults_yield();
    return argument;
}

static catapults_int connections;

static void await_built_in(void) {
    for (int64_t end = catapults_now() + 20000 * (int64_t)MS; catapults_now() < end;) {
        compute(MS);
        if (strcmp(catapults_policy_name(), "fifo (built-in)") == 0)
            return;
    }
    require(!"the policy is out");
}

/* They yield until it is. */
static void a_policy_that_breaks_its_guard_is_out(void) {
    begin(3, POLICIES "/bytes.so");
    require(catapults_schedvar_register("connections", &connections) == 0);
    catapults_t threads[8];
    for (int i = 0; i < 8; i++)
        threads[i] = spawn(yield_on, NULL);
    __atomic_store_n(&connections, 13, __ATOMIC_RELAXED);
    await_built_in();
    atomic_store(&go_on, true);
    for (int i = 0; i < 8; i++)
        require(catapults_join(threads[i], NULL) == 0);
}

static void policies_are_replaced(void) {
    static const char *const policies[] = {POLICIES "/turns.so", POLICIES "/eager.so", NULL};
    begin(3, NULL);
    catapults_t threads[8];
    for (int i = 0; i < 8; i++)
        threads[i] = spawn(turn, NULL);
    for (int i = 0; i < 30; i++) {
        require(catapults_policy_replace(NULL, policies[i % 3]) == 0);
        catapults_yield();
    }
    for (int i = 0; i < 8; i++)
        require(catapults_join(threads[i], NULL) == 0);
}

/* There were several, and there may be again. */
static void policies_are_replaced_while_there_is_one(void) {
    begin(3, POLICIES "/eager.so");
    require(catapults_set_processors(1) == 0);
    require(catapults_policy_replace(NULL, POLICIES "/turns.so") == 0);
    require(catapults_set_processors(4) == 0);
    catapults_t threads[8];
    for (int i = 0; i < 8; i++)
        threads[i] = spawn(turn, NULL);
    for (int i = 0; i < 8; i++)
        require(catapults_join(threads[i], NULL) == 0);
    require(strcmp(catapults_policy_name(), "turns") == 0);
}

#if !defined(ACTIVATED)
static catapults_int endless;

/* The processor that has put it in force decides nothing meanwhile. */
static void handlers_are_watched_on_all(void) {
    alarm(HANGS);
    require(catapults_init(&(struct catapults_options){.processors = 3, .handler_limit = 20 * MS}) == 0);
    catapults_t threads[4];
    for (int i = 0; i < 4; i++)
        threads[i] = spawn(turn, NULL);
    require(catapults_policy_replace(NULL, POLICIES "/endless.so") == 0);
    require(catapults_schedvar_register("endless", &endless) == 0);
    for (int i = 0; i < 4; i++)
        require(catapults_join(threads[i], NULL) == 0);
    for (int i = 0; i < 4; i++)
        threads[i] = spawn(yield_on, NULL);
    __atomic_store_n(&endless, 2, __ATOMIC_RELAXED); /* `switch_out` */
    await_built_in();
    atomic_store(&go_on, true);
    for (int i = 0; i < 4; i++)
        require(catapults_join(threads[i], NULL) == 0);
}
#endif

int main(void) {
#if defined(ACTIVATED) /* see processors_policies_activated.c */
    setenv("CATAPULTS_ACTIVATIONS", "1", 1);
#endif
    const struct CMUnitTest tests[] = {
        child_test(a_policy_that_breaks_its_guard_is_out),
        child_test(policies_are_replaced),
        child_test(policies_are_replaced_while_there_is_one),
#if !defined(ACTIVATED)
        child_test(handlers_are_watched_on_all),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
