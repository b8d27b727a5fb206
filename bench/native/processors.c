/*
 * What several processors cost: waking a thread for which another processor has to wake up, beside a futex between two
 * kernel threads; and a mutex that is free, beside that of pthreads, while there are two processors.
 *
 *   processors [short]
 *
 * Prints `name value` lines, in nanoseconds: medians of ROUNDS rounds, in which both sides take turns.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "catapults.h"

enum { ROUNDS = 2001, LOCKS = 1000, REST = 50000 /* nanoseconds in which who waits falls asleep */ };

static void fail(const char *why) {
    fprintf(stderr, "processors: %s\n", why);
    exit(EXIT_FAILURE);
}

static int compare(const void *one, const void *other) {
    double difference = *(const double *)one - *(const double *)other;
    return (difference > 0) - (difference < 0);
}

static void report(const char *name, double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, compare);
    printf("%s %.1f\n", name, values[count / 2]);
}

/* Without any call of the runtime. */
static void rest(void) {
    for (int64_t end = catapults_now() + REST; catapults_now() < end;)
        ;
}

/* ---- Waking ------------------------------------------------------------------------------------------------------ */

static int rounds = ROUNDS;
static _Atomic int64_t begun, woken;
static double ours[ROUNDS], theirs[ROUNDS];

static catapults_sem_t semaphore = CATAPULTS_SEM_INITIALIZER(0);

static void *wait_for_semaphore(void *argument) {
    for (int i = 0; i < rounds; i++) {
        catapults_sem_wait(&semaphore);
        atomic_store(&woken, catapults_now());
    }
    return argument;
}

static _Atomic uint32_t word;

static void *wait_for_futex(void *argument) {
    for (uint32_t i = 0; i < (uint32_t)rounds; i++) {
        while (atomic_load(&word) == i)
            syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, i, NULL, NULL, 0);
        atomic_store(&woken, catapults_now());
    }
    return argument;
}

static double until_woken(void) {
    int64_t end = catapults_now() + INT64_C(10000000000);
    while (atomic_load(&woken) == 0)
        if (catapults_now() > end)
            fail("who was woken did not wake up");
    return (double)(atomic_load(&woken) - atomic_load(&begun));
}

static double wake_ours(void) {
    atomic_store(&woken, 0);
    rest();
    atomic_store(&begun, catapults_now());
    catapults_sem_post(&semaphore);
    return until_woken();
}

static double wake_theirs(void) {
    atomic_store(&woken, 0);
    rest();
    atomic_store(&begun, catapults_now());
    atomic_fetch_add(&word, 1);
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    return until_woken();
}

static void measure_waking(void) {
    catapults_t thread;
    pthread_t kernel_thread;
    if (catapults_create(&thread, NULL, wait_for_semaphore, NULL) != 0 ||
        pthread_create(&kernel_thread, NULL, wait_for_futex, NULL) != 0)
        fail("no second thread");
    for (int i = 0; i < rounds; i++) {
        ours[i] = wake_ours();
        theirs[i] = wake_theirs();
    }
    catapults_join(thread, NULL);
    pthread_join(kernel_thread, NULL);
    report("wake", ours, rounds);
    report("wake_futex", theirs, rounds);
}

/* ---- A mutex that is free ---------------------------------------------------------------------------------------- */

static catapults_mutex_t mutex = CATAPULTS_MUTEX_INITIALIZER;
static pthread_mutex_t pthreads_mutex = PTHREAD_MUTEX_INITIALIZER;

static void measure_mutexes(void) {
    for (int i = 0; i < rounds; i++) {
        int64_t start = catapults_now();
        for (int j = 0; j < LOCKS; j++) {
            catapults_mutex_lock(&mutex);
            catapults_mutex_unlock(&mutex);
        }
        int64_t middle = catapults_now();
        for (int j = 0; j < LOCKS; j++) {
            pthread_mutex_lock(&pthreads_mutex);
            pthread_mutex_unlock(&pthreads_mutex);
        }
        ours[i] = (double)(middle - start) / LOCKS;
        theirs[i] = (double)(catapults_now() - middle) / LOCKS;
    }
    report("mutex", ours, rounds);
    report("mutex_pthreads", theirs, rounds);
}

int main(int count, char **arguments) {
    if (count > 1 && strcmp(arguments[1], "short") != 0)
        fail("usage: processors [short]");
    if (count > 1)
        rounds = 51;
    if (catapults_init(&(struct catapults_options){.processors = 2}) != 0)
        return EXIT_FAILURE;
    measure_waking();
    measure_mutexes();
    return EXIT_SUCCESS;
}
