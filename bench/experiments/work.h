/*
 * Threads that compute, for experiments in which time is the work that all threads have done: so neither what else runs
 * on the machine counts, nor that it is not always equally fast.
 *
 * A tick is an amount of work, about a millisecond. While a thread computes, it serves the clock as an interrupt would
 * (the 1996 paper's own threads were interrupted by the process's virtual time): it wakes threads whose tick has come,
 * and records how far all have come. Some thread computes always: one called idle if no other can.
 */
#ifndef CATAPULTS_EXPERIMENTS_WORK_H
#define CATAPULTS_EXPERIMENTS_WORK_H

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "catapults.h"

enum { LOOPS_OF_A_CHUNK = 2500, CHUNKS_OF_A_TICK = 1000, ROWS = 1000 };

struct worker {
    const char *name;
    _Atomic int64_t done;  /* chunks */
    _Atomic int64_t alarm; /* the chunk at which it is woken */
    catapults_sem_t bell;
    atomic_bool stop;
    catapults_t thread;
};

static struct worker *workers;
static int workers_count;
static _Atomic int64_t chunks; /* of all threads */
static atomic_bool over;
static int64_t sampling; /* chunks from row to row */
static _Atomic int rows;
static int64_t sampled[ROWS], table[ROWS][16];

static inline int64_t ticks(double count) { return (int64_t)(count * CHUNKS_OF_A_TICK); }

/* Whoever gets there first does it. */
static inline void serve_clock(int64_t now) {
    int row = rows;
    if (now >= row * sampling && row < ROWS && atomic_compare_exchange_strong(&rows, &row, row + 1)) {
        sampled[row] = now;
        for (int i = 0; i < workers_count; i++)
            table[row][i] = workers[i].done;
    }
    for (int i = 0; i < workers_count; i++)
        if (now >= workers[i].alarm && atomic_exchange(&workers[i].alarm, INT64_MAX) != INT64_MAX)
            catapults_sem_post(&workers[i].bell);
}

/* One code for all threads, or a tick would not be the same to all: a loop that lies across two lines of the code's
 * cache can take twice as long. */
__attribute__((noinline, aligned(64))) static void compute(struct worker *self, int64_t count) {
    for (; count > 0 && !self->stop && !over; count--) {
        for (volatile int i = 0; i < LOOPS_OF_A_CHUNK; i++)
            ;
        self->done++;
        serve_clock(++chunks);
    }
}

/* Until all threads have come so far. Only the next thread that computes can wake it, so not the caller itself. */
static inline void wait_until(struct worker *self, int64_t instant) {
    self->alarm = instant;
    catapults_sem_wait(&self->bell);
}

static inline void *idle(void *argument) {
    compute(argument, INT64_MAX);
    return NULL;
}

/* Under `scheduler`, with values of its policy's imports of threads. */
static inline void start(struct worker *worker, const char *scheduler, void *(*body)(void *),
                         const struct catapults_value *values, size_t values_count) {
    struct catapults_attributes attributes = {.name = worker->name,
                                              .scheduler = catapults_scheduler_find(scheduler),
                                              .values = values,
                                              .values_count = values_count};
    worker->alarm = INT64_MAX;
    if (!attributes.scheduler || catapults_sem_init(&worker->bell, 0) != 0 ||
        catapults_create(&worker->thread, &attributes, body, worker) != 0) {
        fprintf(stderr, "cannot start %s under %s\n", worker->name, scheduler);
        exit(EXIT_FAILURE);
    }
}

/* The caller becomes one who starts and changes others, before all of them, and something computes at any time. Comes
 * first. */
static inline void direct(struct worker *self, struct worker *last) {
    struct catapults_value least = catapults_value_int("priority", -1), most = catapults_value_int("priority", 3);
    self->alarm = INT64_MAX;
    if (catapults_sem_init(&self->bell, 0) != 0 || catapults_scheduler_attach(catapults_scheduler_root()) != 0 ||
        catapults_set_values(catapults_self(), &most, 1) != 0)
        exit(EXIT_FAILURE);
    start(last, "root", idle, &least, 1);
}

/* What main does first: `TICKS` of the command line is how long each phase of the experiment is, in chunks what is
 * returned. */
static inline int64_t begin(int count, char **arguments, struct worker *all, int all_count, struct worker *director,
                            struct worker *last) {
    int64_t phase = count == 2 ? ticks(atof(arguments[1])) : 0;
    if (phase <= 0) {
        fprintf(stderr, "usage: %s TICKS\n", arguments[0]);
        exit(EXIT_FAILURE);
    }
    workers = all;
    workers_count = all_count;
    sampling = phase / 20;
    if (catapults_init(NULL) != 0)
        exit(EXIT_FAILURE);
    direct(director, last);
    wait_until(director, 0);
    return phase;
}

/* `value TICKS NUMBER...`, for the first so many workers. */
static inline void print_rows(int columns) {
    for (int row = 0; row < rows; row++) {
        printf("value %.3f", (double)sampled[row] / CHUNKS_OF_A_TICK);
        for (int i = 0; i < columns; i++)
            printf(" %.3f", (double)table[row][i] / CHUNKS_OF_A_TICK);
        printf("\n");
    }
}

#endif
