/*
 * How many threads run at a time: each counts while it computes, and a kernel thread beside them looks on. More of them
 * than there are processors may run for a moment, when some come back from the kernel, but not for longer.
 */
#ifndef CATAPULTS_BEATS_H
#define CATAPULTS_BEATS_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Of those that take turns of BEATS_TURN, or until they are through, two are both seen in IN_A_ROW windows only if both
 * run all the time. */
enum { BEATS = 6, BEATS_WINDOW = 20000000, BEATS_TURN = 100000000, IN_A_ROW = 3 };

static struct {
    _Atomic uint32_t counts[BEATS];
    _Atomic bool over;
    int processors, windows, exceeded; /* how often more have run than there are */
    pthread_t watcher;
} beats;

static inline int64_t beats_now(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void *beats_watch(void *unused) {
    uint32_t before[BEATS] = {0};
    int rows[BEATS] = {0};
    int64_t last = beats_now(CLOCK_MONOTONIC);
    while (!beats.over) {
        nanosleep(&(struct timespec){0, BEATS_WINDOW}, NULL);
        int64_t now = beats_now(CLOCK_MONOTONIC);
        bool usual = now - last < 2 * BEATS_WINDOW; /* else it says nothing: each may have had its turn */
        int run = 0;
        for (int i = 0; i < BEATS; i++) {
            uint32_t count = beats.counts[i];
            rows[i] = usual && count != before[i] ? rows[i] + 1 : 0;
            run += rows[i] >= IN_A_ROW;
            before[i] = count;
        }
        last = now;
        beats.windows += usual;
        beats.exceeded += run > beats.processors;
    }
    return unused;
}

/* 0 or an error number. */
static inline int beats_start(int processors) {
    beats.processors = processors;
    sigset_t all, before; /* what is for the threads is not for it */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&beats.watcher, NULL, beats_watch, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

static inline void beats_stop(void) {
    beats.over = true;
    pthread_join(beats.watcher, NULL);
}

/* One turn, after a wait in the kernel. */
static inline void beats_take_turn(int number) {
    nanosleep(&(struct timespec){0, 5000000}, NULL);
    int64_t end = beats_now(CLOCK_THREAD_CPUTIME_ID) + BEATS_TURN;
    while (beats_now(CLOCK_THREAD_CPUTIME_ID) < end)
        beats.counts[number]++;
}

#endif
