/*
 * What the tests of signals on several processors share: a handler that counts, threads that compute or sleep, and
 * groups that run on one, two and four processors. Each of the programs is called so:
 *
 *     processors_signals [TEST [PROCESSORS]]
 */
#ifndef PROCESSORS_SIGNALS_TEST_H
#define PROCESSORS_SIGNALS_TEST_H

#include <errno.h>
#include <stdatomic.h>
#include <sys/time.h>

#include "catapults.h"
#include "support/child.h"
#include "support/signal_calls.h"

enum { MS = 1000000, MOST = 8 };

static int processors;
static atomic_int handled, last, over, there;
static _Atomic(catapults_t) handled_by;
static atomic_int handled_of[MOST]; /* by threads whose key says who they are */
static catapults_key_t key;

static inline void begin_with(const struct catapults_options *options) {
    struct catapults_options mine = *options;
    mine.processors = processors;
#if defined(ACTIVATED)
    mine.activations = true;
#endif
    alarm(HANGS);
    require(catapults_init(&mine) == 0);
    require(catapults_key_create(&key, NULL) == 0);
}

/* Under a policy that preempts. */
static inline void begin(void) { begin_with(&(struct catapults_options){.policy = POLICIES "/turns.so", .tick = MS}); }

static inline catapults_t spawn(void *(*start)(void *), void *argument) {
    catapults_t thread;
    require(catapults_create(&thread, NULL, start, argument) == 0);
    return thread;
}

static inline void *join(catapults_t thread) {
    void *result;
    require(catapults_join(thread, &result) == 0);
    return result;
}

static inline void count(int number) {
    void *who = catapults_getspecific(key);
    if (who)
        atomic_fetch_add(&handled_of[(intptr_t)who - 1], 1);
    atomic_store(&last, number);
    atomic_store(&handled_by, catapults_self());
    atomic_fetch_add(&handled, 1);
    errno = ENOTTY;
}

static inline sigset_t set_of(int number) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    return set;
}

/* Until so many were handled; the test has a time limit. */
static inline void await(const atomic_int *counter, int number) {
    while (atomic_load(counter) < number)
        catapults_sleep(MS / 10);
}

static inline void *compute(void *argument) {
    atomic_fetch_add(&there, 1);
    while (!atomic_load(&over))
        ;
    return argument;
}

static inline void *sleep_until_over(void *argument) {
    atomic_fetch_add(&there, 1);
    while (!atomic_load(&over))
        catapults_sleep(MS);
    return argument;
}

/* A process that begins when it is told to: forked before there are threads, which could be left within fork(2). */
static int start_here;
static inline pid_t outside(void (*send)(pid_t parent)) {
    int pipes[2];
    pid_t parent = getpid();
    require(pipe(pipes) == 0);
    pid_t child = fork();
    require(child >= 0);
    if (child == 0) {
        char byte;
        require(read(pipes[0], &byte, 1) == 1);
        send(parent);
        _exit(0);
    }
    start_here = pipes[1];
    return child;
}
static inline void start_outside(void) { require(write(start_here, "", 1) == 1); }

/* The last two are what `main` is given. */
#define run_on_processors(tests, given, arguments)                                                                     \
    run_group_on_processors(tests, sizeof(tests) / sizeof *(tests), given, arguments)

static inline int run_group_on_processors(const struct CMUnitTest *tests, size_t number, int given, char **arguments) {
    int failed = 0, only = given > 2 ? atoi(arguments[2]) : 0;
    if (given > 1)
        cmocka_set_test_filter(arguments[1]);
    for (processors = 1; processors <= 4; processors *= 2) {
        char name[32];
        snprintf(name, sizeof name, "%d processors", processors);
        failed += only && only != processors ? 0 : _cmocka_run_group_tests(name, tests, number, NULL, NULL);
    }
    return failed;
}

#endif
