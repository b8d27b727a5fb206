/*
 * Processors that come and go while threads run: by catapults_set_processors, or with the CPUs that the process may
 * use. Threads that were on one that goes, or count on it, run on another.
 */
#include <errno.h>

#include "processors_test.h"
#include "support/cpus.h"

static atomic_int there;

static void processors_come_and_go(void) {
    begin(2, NULL);
    for (int round = 0; round < 30; round++) {
        int processors = round * 7 % 5 + 1;
        catapults_t threads[8];
        for (int i = 0; i < 8; i++)
            threads[i] = spawn(turn, NULL);
        require(catapults_set_processors(processors) == 0 && catapults_processors() == processors);
        catapults_sleep(50000);
        for (int i = 0; i < 8; i++)
            require(catapults_join(threads[i], NULL) == 0);
    }
    require(catapults_set_processors(0) == EINVAL && catapults_set_processors(1000) == EINVAL);
}

static void await_processors(int count) {
    for (int64_t end = catapults_now() + 20000 * (int64_t)MS; catapults_processors() != count && catapults_now() < end;)
        catapults_sleep(MS);
    require(catapults_processors() == count);
}

static cpu_set_t allowed;

static void *check_cpus(void *argument) {
    cpu_set_t mine;
    require(sched_getaffinity(0, sizeof mine, &mine) == 0);
    require(CPU_EQUAL(&mine, &allowed) || getenv("CATAPULTS_ACTIVATIONS")); /* these are told later */
    return argument;
}

/* Only the first kernel thread is told from outside. */
static void cpus_come_and_go(void) {
    cpu_set_t all, one;
    cpus_find(&all, &one);
    begin(CATAPULTS_PROCESSORS_ALL, NULL);
    int most = catapults_processors();
    require(most == (CPU_COUNT(&all) < 128 ? CPU_COUNT(&all) : 128));
    for (int round = 0; round < 6; round++) {
        allowed = round % 2 ? all : one;
        cpus_allow(&allowed);
        await_processors(round % 2 ? most : 1);
        catapults_t threads[8];
        for (int i = 0; i < 8; i++)
            threads[i] = spawn(check_cpus, NULL);
        for (int i = 0; i < 8; i++)
            require(catapults_join(threads[i], NULL) == 0);
    }
    require(catapults_set_processors(2) == 0); /* from now on a number is a number */
    cpus_allow(&one);
    catapults_sleep(100 * MS);
    require(catapults_processors() == 2);
    require(catapults_set_processors(CATAPULTS_PROCESSORS_ALL) == 0);
    await_processors(1);
}

static atomic_bool gone;

static void *shrink(void *set) {
    compute(20 * MS);
    cpus_allow(set);
    return NULL;
}

/* Nobody calls the runtime, nor has it anything to do at first. */
static void cpus_go_while_threads_compute(void) {
    cpu_set_t all, one;
    cpus_find(&all, &one);
    begin(CATAPULTS_PROCESSORS_ALL, POLICIES "/turns.so");
    catapults_t shrinks = spawn(shrink, &one), sleeps = spawn(sleep_a_while, NULL);
    compute_until(&gone, 200 * (int64_t)MS);
    await_processors(1);
    require(catapults_join(shrinks, NULL) == 0 && catapults_join(sleeps, NULL) == 0);
}

static atomic_bool woke, go_on;

static void *sleep_and_say_so(void *argument) {
    atomic_store(&there, 1);
    catapults_sleep(20 * MS);
    atomic_store(&woke, true);
    return argument;
}

/* The second processor sleeps in the driver for all until it is given up. */
static void who_is_left_looks_outside(void) {
    begin(2, POLICIES "/eager.so");
    catapults_t thread = spawn(sleep_and_say_so, NULL);
    while (atomic_load(&there) == 0)
        ;
    compute(5 * MS);
    require(catapults_set_processors(1) == 0);
    compute_until(&woke, 20000 * (int64_t)MS);
    require(atomic_load(&woke));
    require(catapults_join(thread, NULL) == 0);
}

static void *await_and_say_so(void *semaphore) {
    atomic_store(&there, 1);
    require(catapults_sem_wait(semaphore) == 0);
    atomic_store(&woke, true);
    return semaphore;
}

/* The second processor is idle when the thread wakes, so that nobody loses the first one; and given up before it comes.
 */
static void who_counts_on_a_processor_that_goes_runs(void) {
    begin(2, POLICIES "/eager.so");
    catapults_sem_t semaphore;
    require(catapults_sem_init(&semaphore, 0) == 0);
    for (int i = 0; i < 10; i++) {
        atomic_store(&there, 0);
        atomic_store(&woke, false);
        catapults_t thread = spawn(await_and_say_so, &semaphore);
        while (atomic_load(&there) == 0)
            ;
        compute(5 * MS);
        require(catapults_sem_post(&semaphore) == 0);
        require(catapults_set_processors(1) == 0);
        compute_until(&woke, 10000 * (int64_t)MS);
        require(atomic_load(&woke));
        require(catapults_join(thread, NULL) == 0);
        require(catapults_set_processors(2) == 0);
    }
}

static void *compute_and_yield(void *argument) {
    atomic_store(&there, 1);
    while (!atomic_load(&go_on))
        ;
    catapults_yield();
    atomic_store(&woke, true);
    return argument;
}

/* Whose turn had no end, because nobody waited. */
static void who_is_left_takes_turns_with_those_that_come(void) {
    begin(2, POLICIES "/turns.so");
    catapults_t thread = spawn(compute_and_yield, NULL);
    while (atomic_load(&there) == 0)
        ;
    require(catapults_set_processors(1) == 0);
    atomic_store(&go_on, true);
    compute_until(&woke, 20000 * (int64_t)MS);
    require(atomic_load(&woke));
    require(catapults_join(thread, NULL) == 0);
}

static void *say_so(void *argument) {
    atomic_fetch_add(&there, 1);
    return argument;
}

static void *compute_for_long(void *argument) {
    atomic_store(&there, 1);
    while (!atomic_load(&go_on))
        ;
    return argument;
}

static void turns_that_wait_leave_room_for_processors(void) {
    enum { MANY = 250 };
    begin(3, NULL);
    struct catapults_attributes last = {.processors = 4};
    catapults_t one, threads[MANY];
    require(catapults_create(&one, &last, compute_for_long, NULL) == 0);
    while (atomic_load(&there) == 0)
        ;
    for (int i = 0; i < MANY; i++)
        require(catapults_create(&threads[i], &last, say_so, NULL) == 0);
    compute(20 * MS); /* the second processor, which is idle, decides that they run on the third */
    require(catapults_set_processors(30) == 0);
    compute(20 * MS);
    atomic_store(&go_on, true);
    require(catapults_join(one, NULL) == 0);
    for (int i = 0; i < MANY; i++)
        require(catapults_join(threads[i], NULL) == 0);
    require(atomic_load(&there) == MANY + 1);
    for (int i = 0; i < 40; i++)
        threads[i] = spawn(turn, NULL);
    for (int i = 0; i < 40; i++)
        require(catapults_join(threads[i], NULL) == 0);
    require(catapults_threads_total() == 1);
}

static void one_stays_one(void) {
    begin(1, NULL);
    require(catapults_set_processors(1) == 0 && catapults_set_processors(2) == ENOTSUP && catapults_processors() == 1);
    require(catapults_setaffinity(catapults_self(), 1) == 0 && catapults_setaffinity(catapults_self(), 2) == EINVAL);
}

int main(void) {
#if defined(ACTIVATED) /* see processors_come_and_go_activated.c */
    setenv("CATAPULTS_ACTIVATIONS", "1", 1);
#endif
    const struct CMUnitTest tests[] = {
        child_test(processors_come_and_go),
        child_test(cpus_come_and_go),
        child_test(turns_that_wait_leave_room_for_processors),
        child_test(cpus_go_while_threads_compute),
        child_test(who_is_left_looks_outside),
        child_test(who_counts_on_a_processor_that_goes_runs),
        child_test(who_is_left_takes_turns_with_those_that_come),
        child_test(one_stays_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
