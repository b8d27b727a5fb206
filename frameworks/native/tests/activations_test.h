/*
 * What the tests of the activations share. They go through a thread library that is written to <sa.h> alone
 * (support/small_threads.h).
 */
#ifndef ACTIVATIONS_TEST_H
#define ACTIVATIONS_TEST_H

#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "activations/activation.h"
#include "support/child.h"
#include "support/small_threads.h"

static inline int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

#define MILLISECOND INT64_C(1000000)

static bool start_without_trap; /* where the kernel does not lead what returns to the trap */

static inline void start(int processors) {
    require(small_start(processors) == 0);
    if (start_without_trap)
        activations.traps = false;
}

static inline int count(int type) { return small.upcalls[type]; }

/* A thread of the test may block where it does not mean to, say for the kernel's lock of its address space: of BLOCKED
 * there can be more than it counts on, and for each of them there is an UNBLOCKED. */

/* Until it is so; false: not within twenty seconds, which is for machines that have much else to do. Keeps the
 * processor meanwhile, but for upcalls. */
#define eventually(condition)                                                                                          \
    ({                                                                                                                 \
        int64_t limit = now() + 20000 * MILLISECOND;                                                                   \
        while (!(condition) && now() < limit)                                                                          \
            ;                                                                                                          \
        !!(condition);                                                                                                 \
    })

/* ---- What threads do --------------------------------------------------------------------------------------------- */

static struct small_thread threads[300];

static int ends[2];
static _Atomic bool done, begun;

static inline void read_pipe(void *result) {
    char c = 0;
    begun = true;
    *(ssize_t *)result = read(ends[0], &c, 1);
    require(c == 'x');
    done = true;
}

static inline void read_then_write(int rounds) {
    ssize_t result = 0;
    require(pipe(ends) == 0);
    for (int i = 0; i < rounds; i++) {
        done = begun = false;
        small_create(&threads[0], read_pipe, &result);
        small_yield(); /* comes back by BLOCKED: nobody writes but the caller */
        require(begun && !done);
        require(count(SA_UPCALL_BLOCKED) >= i + 1);
        require(write(ends[1], "x", 1) == 1);
        require(eventually(count(SA_UPCALL_UNBLOCKED) >= i + 1));
        small_join(&threads[0]);
        require(done && result == 1);
    }
}

static _Atomic int readers;

static inline void read_one(void *unused) {
    (void)unused;
    char c;
    require(read(ends[0], &c, 1) == 1);
    readers++;
}

static _Atomic bool stop;

static _Atomic int turns[2];

static inline void spin(void *which) {
    while (!stop)
        turns[(intptr_t)which]++;
}

/* A kernel thread of the program's own. */
static inline void *preempt_often(void *unused) {
    (void)unused;
    while (!stop) {
        usleep(1000);
        for (int id = 1; id <= 20; id++)
            sa_preempt(id);
    }
    return NULL;
}

static _Atomic int returns, unnoticed;

static inline void sleep_and_work(void *unused) {
    (void)unused;
    for (int i = 0; i < 20; i++) {
        struct timespec t = {0, 300000};
        nanosleep(&t, NULL);
        enum lwp_state state = lwp_state(*(struct lwp *volatile *)&here()->activation);
        returns++;
        unnoticed += state == LWP_AWAY; /* it runs without a processor */
        for (volatile int k = 0; k < 40000; k++)
            ;
    }
}

static inline void sleepers(void) {
    for (int i = 0; i < 8; i++)
        small_create(&threads[i], sleep_and_work, NULL);
    for (int i = 0; i < 8; i++)
        small_join(&threads[i]);
    require(count(SA_UPCALL_BLOCKED) > 0 && returns == 160);
}

#endif
