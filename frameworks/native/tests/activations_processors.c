/*
 * How many processors the activations have: sa_setconcurrency and the CPU affinity change it, and no more threads run
 * at a time.
 */
#include <dirent.h>
#include <sched.h>

#include "activations_test.h"
#include "support/beats.h"
#include "support/cpus.h"

static void spin_on(void *unused) {
    (void)unused;
    while (!stop)
        turns[0]++;
    turns[0]++;
}

static void concurrency_changes(void) {
    start(1);
    require(sa_setconcurrency(0) == -1 && errno == EINVAL);
    require(sa_setconcurrency(2) == 2);
    small_create(&threads[0], spin_on, NULL);
    require(eventually(count(SA_UPCALL_NEWPROC) == 2 && turns[0] > 1000)); /* while the caller runs, too */
    require(sa_setconcurrency(1) == 1);
    require(eventually(count(SA_UPCALL_PREEMPTED) == 1));
    stop = true;
    int64_t before = turns[0];
    small_yield(); /* it goes on here, until it is done */
    require(turns[0] > before && threads[0].ended);
    stop = false;
    /* One that sleeps goes, too. */
    require(sa_setconcurrency(2) == 2);
    require(eventually(count(SA_UPCALL_NEWPROC) == 3));
    usleep(20000);
    require(sa_setconcurrency(1) == 1);
    require(eventually(count(SA_UPCALL_PREEMPTED) == 2));
}

static void for_all_threads(const cpu_set_t *cpus) {
    DIR *tasks = opendir("/proc/self/task");
    require(tasks);
    for (struct dirent *task; (task = readdir(tasks));)
        if (task->d_name[0] != '.')
            sched_setaffinity(atoi(task->d_name), sizeof *cpus, cpus);
    closedir(tasks);
}

/* As `taskset --all-tasks`, or a cpuset that shrinks. */
static void affinity_changes(void) {
    cpu_set_t all, one;
    require(sched_getaffinity(0, sizeof all, &all) == 0 && CPU_COUNT(&all) >= 2);
    start(2);
    require(eventually(count(SA_UPCALL_NEWPROC) == 2));
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    for_all_threads(&one);
    require(eventually(count(SA_UPCALL_PREEMPTED) == 1));
    for_all_threads(&all);
    require(eventually(count(SA_UPCALL_NEWPROC) == 3));
}

/* As `taskset --pid`: the first kernel thread alone. */
static void affinity_of_the_process_changes(void) {
    cpu_set_t all, one;
    cpus_find(&all, &one);
    start(2);
    require(eventually(count(SA_UPCALL_NEWPROC) == 2));
    for (int i = 1; i <= 3; i++) {
        cpus_allow(&one);
        require(eventually(count(SA_UPCALL_PREEMPTED) == i));
        cpu_set_t mine;
        require(sched_getaffinity(0, sizeof mine, &mine) == 0 && CPU_EQUAL(&mine, &one));
        cpus_allow(&all);
        require(eventually(count(SA_UPCALL_NEWPROC) == 2 + i));
    }
}

static void beat(void *number) {
    read_one(NULL);
    for (int i = 0; i < 2; i++)
        beats_take_turn((int)(intptr_t)number);
}

static void *let_all_go_on(void *unused) {
    static char all[BEATS];
    while (count(SA_UPCALL_BLOCKED) < BEATS)
        usleep(1000);
    require(write(ends[1], all, BEATS) == BEATS);
    return unused;
}

/* All come back at once, and again while others compute. */
static void beat_on(int processors) {
    pthread_t other;
    require(pipe(ends) == 0);
    start(1);
    require(sa_register(small_upcall, NULL, SA_FLAG_FIXED, -1) == 0);
    require(sa_setconcurrency(processors) == processors && beats_start(processors) == 0);
    for (int i = 0; i < BEATS; i++)
        small_create(&threads[i], beat, (void *)(intptr_t)i);
    require(pthread_create(&other, NULL, let_all_go_on, NULL) == 0);
    for (int i = 0; i < BEATS; i++)
        small_join(&threads[i]);
    beats_stop();
    require(beats.windows > 0 && beats.exceeded == 0);
}
static void one_runs_on_one(void) { beat_on(1); }
static void two_run_on_two(void) { beat_on(2); }
static void one_runs_on_one_without_trap(void) {
    start_without_trap = true;
    beat_on(1);
}

static void processors_are_as_many_as_asked_for(void) {
    cpu_set_t all, one;
    cpus_find(&all, &one);
    int many = CPU_COUNT(&all) + 2;
    start(1);
    require(sa_setconcurrency(many) == (many - 2 < SA_PROCESSORS_MOST ? many - 2 : SA_PROCESSORS_MOST));
    require(sa_register(small_upcall, NULL, SA_FLAG_FIXED, -1) == 0);
    if (many > SA_PROCESSORS_MOST)
        return;
    require(sa_setconcurrency(many) == many);
    require(eventually(count(SA_UPCALL_NEWPROC) == many));
    cpus_allow(&one);
    int64_t limit = now() + 400 * MILLISECOND;
    while (now() < limit)
        small_yield();
    require(count(SA_UPCALL_PREEMPTED) == 0);
}

static void two_processors(void) {
    start(2);
    sleepers();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        child_test(concurrency_changes),
        child_test(affinity_changes),
        child_test(affinity_of_the_process_changes),
        child_test(one_runs_on_one),
        child_test(two_run_on_two),
        child_test(one_runs_on_one_without_trap),
        child_test(processors_are_as_many_as_asked_for),
        child_test(two_processors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
