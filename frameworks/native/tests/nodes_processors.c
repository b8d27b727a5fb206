/*
 * Policies with nodes while the number of processors changes: threads are placed anew when their processor goes, and
 * the policy is told. Also one processor alone, and a child of fork.
 */
#include "nodes_test.h"
#include "support/cpus.h"

static void processors(const char *policy) {
    begin(2, policy);
    for (int round = 0; round < 20; round++) {
        int count = round * 7 % 5 + 1;
        catapults_t threads[THREADS];
        for (int i = 0; i < THREADS; i++) {
            set(&at, i % 5);
            threads[i] = spawn(come_and_go, (void *)(uintptr_t)(round * THREADS + i + 1));
        }
        catapults_t suspended = threads[round % THREADS];
        catapults_suspend(suspended); /* if it has not ended */
        require(catapults_set_processors(count) == 0 && catapults_processors() == count);
        catapults_sleep(500000);
        require(catapults_set_processors(count % 5 + 1) == 0);
        catapults_resume(suspended);
        join_all(threads, THREADS);
        require(catapults_threads_total() == 1 && catapults_threads_suspended() == 0);
    }
    require(catapults_set_processors(0) == EINVAL && catapults_set_processors(1000) == EINVAL);
    require(strcmp(catapults_policy_name(), "fifo (built-in)") != 0);
}

static void processors_come_and_go(void) { processors(PLACES); }
static void processors_come_and_go_with_queues(void) { processors(FIFO); }
static void processors_come_and_go_with_loads(void) { processors(LEAST_LOADED); }

/* Whoever asks for that may be on one that goes. */
static void *leave(void *argument) {
    require(catapults_set_processors(1) == 0);
    require(catapults_set_processors(3) == 0);
    return argument;
}

static void who_is_there_is_placed_anew(void) {
    given = 0;
    begin(3, PLACES);
    set(&at, 2);
    for (int i = 0; i < 50; i++) {
        catapults_t spinning = spawn(spin, &spun[0]);
        catapults_t sleeping = spawn(turn, NULL);
        require(catapults_suspend(sleeping) == 0);
        require(catapults_join(spawn(leave, NULL), NULL) == 0);
        require(catapults_resume(sleeping) == 0);
        atomic_store(&spin_on, false);
        require(catapults_join(spinning, NULL) == 0 && catapults_join(sleeping, NULL) == 0);
        atomic_store(&spin_on, true);
    }
    require(strcmp(catapults_policy_name(), "places") == 0);
}

static void await_processors(int count) {
    for (int64_t end = catapults_now() + 20000 * (int64_t)MS; catapults_processors() != count && catapults_now() < end;)
        catapults_sleep(MS);
    require(catapults_processors() == count);
}

static void *say_where(void *argument) {
    *(pid_t *)argument = kernel_thread();
    return NULL;
}

static bool runs_on_first(void) {
    pid_t place;
    set(&at, 1);
    catapults_t thread = spawn(say_where, &place);
    set(&at, 0);
    require(catapults_join(thread, NULL) == 0);
    return place == first_kernel_thread();
}

/* The policy is told: it places nothing on a node that has departed, and places again on one that has arrived. */
static void nodes_go_and_come_with_cpus(void) {
    cpu_set_t all, one;
    cpus_find(&all, &one);
    given = 0;
    begin(CATAPULTS_PROCESSORS_ALL, PLACES);
    int most = catapults_processors();
    for (int i = 0; i < 3; i++) {
        require(!runs_on_first());
        cpus_allow(&one);
        await_processors(1);
        require(runs_on_first());
        cpus_allow(&all);
        await_processors(most);
    }
    require(strcmp(catapults_policy_name(), "places") == 0);
}

static void one_stays_one(void) {
    begin(1, PLACES);
    catapults_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        threads[i] = spawn(come_and_go, (void *)(uintptr_t)(i + 1));
    require(catapults_threads_total() == THREADS + 1);
    join_all(threads, THREADS);
    require(catapults_set_processors(1) == 0 && catapults_set_processors(2) == ENOTSUP && catapults_processors() == 1);
    require(strcmp(catapults_policy_name(), "places") == 0);
}

static void a_child_has_one(void) {
    begin(3, PLACES);
    catapults_t threads[4];
    for (int i = 0; i < 4; i++)
        threads[i] = spawn(turn, NULL);
    for (int i = 0; i < 5; i++) {
        pid_t pid = catapults_fork();
        require(pid >= 0);
        if (pid == 0) {
            require(strcmp(catapults_policy_name(), "places") == 0 && catapults_processors() == 1);
            catapults_t child = spawn(turn, NULL);
            catapults_yield();
            require(catapults_join(child, NULL) == 0 && catapults_threads_total() == 1);
            _exit(7);
        }
        int status;
        require(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 7);
    }
    join_all(threads, 4);
}

int main(void) {
#if defined(ACTIVATED) /* see nodes_processors_activated.c */
    setenv("CATAPULTS_ACTIVATIONS", "1", 1);
#endif
    const struct CMUnitTest tests[] = {
        child_test(processors_come_and_go),
        child_test(processors_come_and_go_with_queues),
        child_test(processors_come_and_go_with_loads),
        child_test(who_is_there_is_placed_anew),
        child_test(nodes_go_and_come_with_cpus),
        child_test(one_stays_one),
        child_test(a_child_has_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
