/*
 * Another policy in the place of one, while the program runs. policies/counts.c says what it finds in threads.
 */
#include <errno.h>

#include "support/program.h"

static catapults_int most, connections;
static int turns[4];
static bool stop;

static void *count(void *turns) {
    while (!stop) {
        ++*(int *)turns;
        catapults_yield();
    }
    return turns;
}

static void *sleep_and_count(void *turns) {
    while (!stop) {
        ++*(int *)turns;
        catapults_sleep(100000);
    }
    return turns;
}

static void begin(const char *policy) {
    require(catapults_init(&(struct catapults_options){.policy = policy}) == 0);
    require(catapults_schedvar_register("most", &most) == 0 || true);
    require(catapults_schedvar_register("connections", &connections) == 0 || true);
}

static void replace(catapults_scheduler_t scheduler, const char *policy, const char *name) {
    require(catapults_policy_replace(scheduler, policy) == 0);
    require(strcmp(catapults_scheduler_policy_name(scheduler ? scheduler : catapults_scheduler_root()), name) == 0);
}

/* ---- All threads go on ------------------------------------------------------------------------------------------- */

static catapults_mutex_t mutex = CATAPULTS_MUTEX_INITIALIZER;

static void *lock(void *turns) {
    require(catapults_mutex_lock(&mutex) == 0);
    ++*(int *)turns;
    require(catapults_mutex_unlock(&mutex) == 0);
    return turns;
}

static void threads_go_on(void) {
    static const struct {
        const char *file, *name;
    } policies[] = {{POLICIES "/counts.so", "counts"},
                    {POLICIES "/bytes.so", "bytes"},
                    {NULL, "fifo (built-in)"},
                    {POLICIES "/moved_counts.so", "counts"},
                    {POLICIES "/eager.so", "eager"}};
    begin(NULL);
    catapults_t ready = spawn(count, &turns[0]), sleeping = spawn(sleep_and_count, &turns[1]);
    catapults_t suspended = spawn(count, &turns[2]), waiting = spawn(lock, &turns[3]);
    require(catapults_mutex_lock(&mutex) == 0);
    catapults_yield();
    require(catapults_suspend(suspended) == 0);
    for (int i = 0; i < 50; i++) {
        replace(NULL, policies[i % 5].file, policies[i % 5].name);
        int before = turns[0], slept = turns[1];
        while (turns[0] < before + 3 || turns[1] < slept + 1)
            catapults_yield();
        require(turns[2] == 1 && turns[3] == 0);
        if (i % 7 == 0) {
            require(catapults_resume(suspended) == 0);
            while (turns[2] == 1)
                catapults_yield();
            turns[2] = 1;
            require(catapults_suspend(suspended) == 0);
        }
    }
    require(catapults_mutex_unlock(&mutex) == 0);
    require(catapults_join(waiting, NULL) == 0 && turns[3] == 1);
    require(catapults_resume(suspended) == 0);
    stop = true;
    require(catapults_join(ready, NULL) == 0 && catapults_join(sleeping, NULL) == 0);
    require(catapults_join(suspended, NULL) == 0);
}

/* What waits while the policy is replaced is woken by resume_thread then, and by event_raised from the next time on:
 * counts.c is strict about that. */
static void what_waits_is_suspended(void) {
    begin(POLICIES "/counts.so");
    catapults_t sleeping = spawn(sleep_and_count, &turns[0]), waiting = spawn(lock, &turns[1]);
    require(catapults_mutex_lock(&mutex) == 0);
    catapults_yield();
    replace(NULL, POLICIES "/moved_counts.so", "counts");
    require(catapults_mutex_unlock(&mutex) == 0);
    while (turns[0] < 5)
        catapults_yield();
    stop = true;
    require(catapults_join(waiting, NULL) == 0 && catapults_join(sleeping, NULL) == 0);
    require(strcmp(catapults_policy_name(), "counts") == 0);
}

/* ---- What is handed on ------------------------------------------------------------------------------------------- */

static void attributes_of_one_name_and_type(void) {
    begin(POLICIES "/counts.so");
    catapults_t thread = spawn(count, &turns[0]);
    for (int i = 0; i < 20; i++)
        catapults_yield();
    require(most == 0);
    replace(NULL, POLICIES "/moved_counts.so", "counts");
    /* `turns`, but not `class`, which was 1000 and is no bool. */
    require(most == 21);
    for (int i = 0; i < 20; i++)
        catapults_yield();
    replace(NULL, POLICIES "/moved_counts.so", "counts");
    require(most > 41 && most <= 45); /* and `class`: 1 */
    stop = true;
    require(catapults_join(thread, NULL) == 0);
}

static char order[8];

static void *note(void *name) {
    strcat(order, name);
    return name;
}

static void values_that_were_given(void) {
    static const struct catapults_value least = {.name = "bytesleft", .type = CATAPULTS_VALUE_INT, .is.integer = 1},
                                        most = {.name = "bytesleft", .type = CATAPULTS_VALUE_INT, .is.integer = 9};
    begin(POLICIES "/bytes.so");
    catapults_t a = spawn(note, "a"), b = spawn(note, "b"), c = spawn(note, "c");
    require(catapults_set_values(a, &least, 1) == 0 && catapults_set_values(c, &most, 1) == 0);
    replace(NULL, POLICIES "/bytes.so", "bytes");
    require(catapults_join(a, NULL) == 0 && catapults_join(b, NULL) == 0 && catapults_join(c, NULL) == 0);
    require(strcmp(order, "cba") == 0);
}

/* ---- What does not work ------------------------------------------------------------------------------------------ */

static void a_refusal_changes_nothing(void) {
    begin(POLICIES "/counts.so");
    catapults_t thread = spawn(count, &turns[0]), sleeping = spawn(sleep_and_count, &turns[1]);
    catapults_yield();
    connections = -1;
    require(catapults_policy_replace(NULL, POLICIES "/bytes.so") == EAGAIN);
    require(strcmp(catapults_refusal(), "too many connections") == 0);
    require(strcmp(catapults_policy_name(), "counts") == 0);
    int before = turns[0], slept = turns[1];
    while (turns[0] < before + 10 || turns[1] < slept + 3)
        catapults_yield();
    connections = 0;
    replace(NULL, POLICIES "/bytes.so", "bytes");
    require(catapults_refusal() == NULL);
    /* There are threads without room for 50 kB. */
    require(catapults_policy_replace(NULL, POLICIES "/large.so") == ENOSPC);
    require(catapults_policy_replace(NULL, POLICIES "/other_abi.so") == EINVAL);
    require(catapults_policy_replace(NULL, POLICIES "/hierarchy.so") == EINVAL);
    require(strcmp(catapults_policy_name(), "bytes") == 0);
    stop = true;
    require(catapults_join(thread, NULL) == 0 && catapults_join(sleeping, NULL) == 0);
}

static void before_the_start(void) { require(catapults_policy_replace(NULL, NULL) == EPERM); }

static void one_that_had_to_go(void) {
    begin(POLICIES "/bytes.so");
    catapults_t thread = spawn(count, &turns[0]);
    connections = 13;
    catapults_yield();
    connections = 0;
    require(strcmp(catapults_policy_name(), "fifo (built-in)") == 0);
    replace(NULL, POLICIES "/bytes.so", "bytes");
    for (int i = 0; i < 10; i++)
        catapults_yield();
    connections = -1;
    require(catapults_create(NULL, NULL, count, &turns[0]) == EAGAIN); /* registered variables are linked anew */
    stop = true;
    require(catapults_join(thread, NULL) == 0);
}

/* ---- In a tree --------------------------------------------------------------------------------------------------- */

static void in_a_tree(void) {
    begin(POLICIES "/hierarchy.so");
    catapults_scheduler_t high = catapults_scheduler_find("high"), below;
    struct catapults_scheduler_attributes attributes = {.name = "below", .parent = high};
    require(catapults_scheduler_add(&below, &attributes) == 0);
    catapults_t threads[3];
    catapults_scheduler_t schedulers[] = {NULL, high, below};
    for (int i = 0; i < 3; i++)
        require(catapults_create(&threads[i], &(struct catapults_attributes){.scheduler = schedulers[i]},
                                 sleep_and_count, &turns[i]) == 0);
    for (int i = 0; i < 30; i++) {
        replace(i % 3 == 0 ? NULL : i % 3 == 1 ? high : below, POLICIES "/counts.so", "counts");
        int before[] = {turns[0], turns[1], turns[2]};
        while (turns[0] == before[0] || turns[1] == before[1] || turns[2] == before[2])
            catapults_sleep(1000);
    }
    stop = true;
    for (int i = 0; i < 3; i++)
        require(catapults_join(threads[i], NULL) == 0);
    require(strcmp(catapults_policy_name(), "bytes") == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        child_test(threads_go_on),
        child_test(what_waits_is_suspended),
        child_test(attributes_of_one_name_and_type),
        child_test(values_that_were_given),
        child_test(a_refusal_changes_nothing),
        child_test(before_the_start),
        child_test(one_that_had_to_go),
        child_test(in_a_tree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
