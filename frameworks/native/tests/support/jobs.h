/*
 * Threads with jobs: when these are released and how many were missed is as the clock says, however late the program is
 * given a CPU. Their policy is one of those that say what they hear (policies/jobs.sched).
 */
#ifndef CATAPULTS_TESTS_JOBS_H
#define CATAPULTS_TESTS_JOBS_H

#include "catapults.h"
#include "support/child.h"

enum { US = 1000, MS = 1000000 };
#define LONG ((int64_t)3600 * 1000 * MS)

/* What the policy keeps of a thread. */
struct worker {
    catapults_time heard;
    catapults_int begun;
    int64_t period;
    int jobs;
};

static inline void have_heard(void) {
    require(catapults_threadvar_register_time("heard", struct worker, heard) == 0);
    require(catapults_threadvar_register("begun", struct worker, begun) == 0);
}

static inline catapults_t spawn(void *(*start)(void *), struct worker *worker) {
    catapults_t thread;
    struct catapults_attributes attributes = {.object = worker, .period = worker->period};
    require(catapults_create(&thread, &attributes, start, worker) == 0);
    return thread;
}

static inline void join(catapults_t thread) { require(catapults_join(thread, NULL) == 0); }

static inline int64_t released(void) {
    int64_t instant;
    require(catapults_release(&instant) == 0);
    return instant;
}

static inline void spin_until(int64_t instant) {
    while (catapults_now() <= instant)
        ;
}

/* Ends a job, and looks at what is said of that. Returns how many were missed. */
static inline int64_t next(const struct worker *worker) {
    int64_t release = released() + worker->period, missed = -1, before = catapults_now();
    catapults_int begun = worker->begun;
    require(catapults_next_period(&missed) == 0);
    int64_t after = catapults_now();
    require(released() == release && after >= release);
    require(missed >= 0 && before <= release + missed * worker->period);
    require(missed == 0 || after > release + (missed - 1) * worker->period);
    require(worker->begun == begun + 1 && worker->heard == release);
    return missed;
}

static inline void *work(void *worker_) {
    struct worker *worker = worker_;
    int64_t first = released();
    for (int i = 1; i <= worker->jobs; i++) {
        if (i % 7 == 0)
            spin_until(released() + worker->period * 3 / 2);
        else if (i % 3 == 0)
            catapults_sleep(worker->period / 4);
        next(worker);
        require(released() == first + i * worker->period);
    }
    return worker;
}

enum { MANY = 6 };

static inline void many(void) {
    have_heard();
    struct worker workers[MANY] = {{0}};
    catapults_t threads[MANY];
    for (int i = 0; i < MANY; i++) {
        workers[i] = (struct worker){.period = (200 + 70 * i) * US, .jobs = 40};
        threads[i] = spawn(work, &workers[i]);
    }
    for (int i = 0; i < MANY; i++) {
        join(threads[i]);
        require(workers[i].begun == 40);
    }
}

/* Under one more scheduler, of that policy. */
static inline void below(void) {
    struct catapults_scheduler_attributes attributes = {.name = "below", .policy = POLICIES "/jobs.so"};
    catapults_scheduler_t scheduler;
    require(catapults_scheduler_add(&scheduler, &attributes) == 0);
    have_heard();
    struct worker workers[2] = {{.period = 400 * US, .jobs = 40}, {.period = 700 * US, .jobs = 40}};
    catapults_t threads[2];
    for (int i = 0; i < 2; i++) {
        struct catapults_attributes of_thread = {
            .object = &workers[i], .period = workers[i].period, .scheduler = scheduler};
        require(catapults_create(&threads[i], &of_thread, work, &workers[i]) == 0);
    }
    for (int i = 0; i < 2; i++)
        join(threads[i]);
    require(workers[0].begun == 40 && workers[1].begun == 40);
}

#endif
