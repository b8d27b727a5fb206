/*
 * The experiment of the 2021 report, §3: what it costs to run 1 to 15 threads that do nothing but loop.
 *
 *   2021-user-threads LIBRARY LOCKING LOOPS THREADS
 *
 * LIBRARY is catapults or pthreads; LOCKING is asynchronous, or synchronous: each thread has one lock for all of its
 * loop. Prints `value SECONDS`.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "catapults.h"

enum { MOST_THREADS = 64 };

static long loops;
static bool locks;
static catapults_mutex_t our_lock;
static pthread_mutex_t their_lock;

/* The same for both libraries, to the address. */
__attribute__((noinline)) static void loop(void) {
    for (long i = 0; i < loops; i++)
        __asm__ volatile("" : : : "memory");
}

static void *ours(void *argument) {
    if (locks)
        catapults_mutex_lock(&our_lock);
    loop();
    if (locks)
        catapults_mutex_unlock(&our_lock);
    return argument;
}

static void *theirs(void *argument) {
    if (locks)
        pthread_mutex_lock(&their_lock);
    loop();
    if (locks)
        pthread_mutex_unlock(&their_lock);
    return argument;
}

static bool run_ours(int count) {
    catapults_t threads[MOST_THREADS];
    catapults_mutex_init(&our_lock, NULL);
    for (int i = 0; i < count; i++)
        if (catapults_create(&threads[i], NULL, ours, NULL) != 0)
            return false;
    for (int i = 0; i < count; i++)
        catapults_join(threads[i], NULL);
    return catapults_mutex_destroy(&our_lock) == 0;
}

static bool run_theirs(int count) {
    pthread_t threads[MOST_THREADS];
    pthread_mutex_init(&their_lock, NULL);
    for (int i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, theirs, NULL) != 0)
            return false;
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    return pthread_mutex_destroy(&their_lock) == 0;
}

int main(int count, char **arguments) {
    int threads = count == 5 ? atoi(arguments[4]) : 0;
    if (threads < 1 || threads > MOST_THREADS) {
        fprintf(stderr, "usage: %s catapults|pthreads asynchronous|synchronous LOOPS THREADS\n", arguments[0]);
        return EXIT_FAILURE;
    }
    bool with_catapults = strcmp(arguments[1], "catapults") == 0;
    locks = strcmp(arguments[2], "synchronous") == 0;
    loops = atol(arguments[3]);
    if (with_catapults && catapults_init(NULL) != 0)
        return EXIT_FAILURE;
    clock_t start = clock();
    if (!(with_catapults ? run_ours(threads) : run_theirs(threads)))
        return EXIT_FAILURE;
    printf("value %.6f\n", (double)(clock() - start) / CLOCKS_PER_SEC);
    return EXIT_SUCCESS;
}
