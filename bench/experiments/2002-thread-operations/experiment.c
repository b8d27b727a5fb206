/*
 * The three operations of threads that the 2002 paper measures (§7), while so many threads are there.
 *
 *   2002-thread-operations LIBRARY thread|free|contended|context THREADS
 *
 * LIBRARY is activations (Catapults on scheduler activations), pth (GNU Pth) or pthreads. thread: a thread that does
 * nothing is created, runs and is joined, and free: a mutex is locked and unlocked, while the others sleep; contended:
 * all lock it, yield, and unlock it; context: all yield. Prints `value NANOSECONDS` of the process's CPU time for each
 * operation, the median of a few rounds. All run on one processor.
 */
#include <pth.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "catapults.h"

enum { MOST_THREADS = 64, ROUNDS = 5 };

/* ---- Libraries --------------------------------------------------------------------------------------------------- */

typedef void *body(void *);

struct library {
    const char *name;
    void (*start)(void);
    void *(*create)(body *, void *);
    void (*join)(void *);
    void (*yield)(void);
    void (*lock)(void);
    void (*unlock)(void);
    void (*sleep)(void); /* until all are woken */
    void (*wake)(void);
};

static void fail(const char *what) {
    fprintf(stderr, "%s failed\n", what);
    exit(EXIT_FAILURE);
}

static catapults_mutex_t our_mutex, our_bell;
static catapults_cond_t our_cond;
static bool awake;

static void our_start(void) {
    if (catapults_init(&(struct catapults_options){.activations = true}) != 0)
        fail("catapults_init");
    catapults_mutex_init(&our_mutex, NULL);
    catapults_mutex_init(&our_bell, NULL);
    catapults_cond_init(&our_cond);
}
static void *our_create(body *start, void *argument) {
    catapults_t thread;
    if (catapults_create(&thread, NULL, start, argument) != 0)
        fail("catapults_create");
    return thread;
}
static void our_join(void *thread) { catapults_join(thread, NULL); }
static void our_lock(void) { catapults_mutex_lock(&our_mutex); }
static void our_unlock(void) { catapults_mutex_unlock(&our_mutex); }
static void our_sleep(void) {
    catapults_mutex_lock(&our_bell);
    while (!awake)
        catapults_cond_wait(&our_cond, &our_bell);
    catapults_mutex_unlock(&our_bell);
}
static void our_wake(void) {
    catapults_mutex_lock(&our_bell);
    awake = true;
    catapults_cond_broadcast(&our_cond);
    catapults_mutex_unlock(&our_bell);
}

static pth_mutex_t pth_mutex = PTH_MUTEX_INIT, pth_bell = PTH_MUTEX_INIT;
static pth_cond_t pth_cond = PTH_COND_INIT;

static void pth_start(void) {
    if (!pth_init())
        fail("pth_init");
}
static void *pth_create(body *start, void *argument) {
    pth_t thread = pth_spawn(PTH_ATTR_DEFAULT, start, argument);
    if (!thread)
        fail("pth_spawn");
    return thread;
}
static void pth_join_it(void *thread) { pth_join(thread, NULL); }
static void pth_yield_it(void) { pth_yield(NULL); }
static void pth_lock(void) { pth_mutex_acquire(&pth_mutex, FALSE, NULL); }
static void pth_unlock(void) { pth_mutex_release(&pth_mutex); }
static void pth_sleep_it(void) {
    pth_mutex_acquire(&pth_bell, FALSE, NULL);
    while (!awake)
        pth_cond_await(&pth_cond, &pth_bell, NULL);
    pth_mutex_release(&pth_bell);
}
static void pth_wake(void) {
    pth_mutex_acquire(&pth_bell, FALSE, NULL);
    awake = true;
    pth_cond_notify(&pth_cond, TRUE);
    pth_mutex_release(&pth_bell);
}

static pthread_mutex_t their_mutex = PTHREAD_MUTEX_INITIALIZER, their_bell = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t their_cond = PTHREAD_COND_INITIALIZER;

static void their_start(void) {}
static void *their_create(body *start, void *argument) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, start, argument) != 0)
        fail("pthread_create");
    return (void *)thread;
}
static void their_join(void *thread) { pthread_join((pthread_t)thread, NULL); }
static void their_yield(void) { sched_yield(); }
static void their_lock(void) { pthread_mutex_lock(&their_mutex); }
static void their_unlock(void) { pthread_mutex_unlock(&their_mutex); }
static void their_sleep(void) {
    pthread_mutex_lock(&their_bell);
    while (!awake)
        pthread_cond_wait(&their_cond, &their_bell);
    pthread_mutex_unlock(&their_bell);
}
static void their_wake(void) {
    pthread_mutex_lock(&their_bell);
    awake = true;
    pthread_cond_broadcast(&their_cond);
    pthread_mutex_unlock(&their_bell);
}

static const struct library libraries[] = {
    {"activations", our_start, our_create, our_join, catapults_yield, our_lock, our_unlock, our_sleep, our_wake},
    {"pth", pth_start, pth_create, pth_join_it, pth_yield_it, pth_lock, pth_unlock, pth_sleep_it, pth_wake},
    {"pthreads", their_start, their_create, their_join, their_yield, their_lock, their_unlock, their_sleep, their_wake},
};

/* ---- Operations -------------------------------------------------------------------------------------------------- */

static const struct library *with;
static int repeats; /* of each thread */

static void *nothing(void *argument) { return argument; }

static void *sleeper(void *argument) {
    with->sleep();
    return argument;
}

static void *create(void *argument) {
    for (int i = 0; i < repeats; i++)
        with->join(with->create(nothing, NULL));
    return argument;
}

static void *lock(void *argument) {
    for (int i = 0; i < repeats; i++) {
        with->lock();
        with->unlock();
    }
    return argument;
}

static void *lock_and_yield(void *argument) {
    for (int i = 0; i < repeats; i++) {
        with->lock();
        with->yield();
        with->unlock();
    }
    return argument;
}

static void *yield(void *argument) {
    for (int i = 0; i < repeats; i++)
        with->yield();
    return argument;
}

static const struct operation {
    const char *name;
    body *run;
    bool all; /* threads do it; else one, while the others sleep */
    int count;
} operations[] = {
    {"thread", create, false, 2000},
    {"free", lock, false, 100000},
    {"contended", lock_and_yield, true, 20000},
    {"context", yield, true, 20000},
};

static int64_t cpu_time(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static double measure(const struct operation *operation, int threads) {
    void *others[MOST_THREADS];
    awake = false;
    repeats = operation->all ? operation->count / threads : operation->count;
    for (int i = 1; i < threads; i++)
        others[i] = with->create(operation->all ? operation->run : sleeper, NULL);
    for (int i = 0; i < 3 && !operation->all; i++)
        with->yield(); /* until they sleep */
    int64_t start = cpu_time();
    operation->run(NULL);
    int64_t end = cpu_time();
    with->wake();
    for (int i = 1; i < threads; i++)
        with->join(others[i]);
    if (operation->all)
        end = cpu_time();
    return (double)(end - start) / repeats / (operation->all ? threads : 1);
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int count, char **arguments) {
    const struct operation *operation = NULL;
    int threads = count == 4 ? atoi(arguments[3]) : 0;
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries && count == 4; i++)
        if (strcmp(arguments[1], libraries[i].name) == 0)
            with = &libraries[i];
    for (size_t i = 0; i < sizeof operations / sizeof *operations && count == 4; i++)
        if (strcmp(arguments[2], operations[i].name) == 0)
            operation = &operations[i];
    if (!with || !operation || threads < 1 || threads > MOST_THREADS) {
        fprintf(stderr, "usage: %s activations|pth|pthreads thread|free|contended|context THREADS\n", arguments[0]);
        return EXIT_FAILURE;
    }
    with->start();
    double values[ROUNDS];
    measure(operation, threads); /* warms up */
    for (int i = 0; i < ROUNDS; i++)
        values[i] = measure(operation, threads);
    qsort(values, ROUNDS, sizeof *values, compare);
    printf("value %.2f\n", values[ROUNDS / 2]);
    fflush(stdout);
    _Exit(EXIT_SUCCESS); /* whatever a library would still do */
}
