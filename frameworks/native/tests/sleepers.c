/*
 * Who sleeps wakes when it is to, while other threads compute: not at the next tick.
 */
#include <errno.h>
#include <stdatomic.h>

#include "support/program.h"

#ifndef PROCESSORS
#define PROCESSORS 1
#endif

enum { MS = 1000000, TIMES = 20, MOST = 3 };

struct task {
    catapults_int priority;
};
static struct task urgent = {2}, low = {1};

static const int64_t patience = 20000 * (int64_t)MS, never = 60000 * (int64_t)MS;
static atomic_int over, in_vain;

static void begin(const char *policy, int64_t tick) {
    alarm(HANGS);
    require(catapults_init(&(struct catapults_options){.policy = policy, .processors = PROCESSORS, .tick = tick}) == 0);
    catapults_threadvar_register("priority", struct task, priority);
    catapults_set_object(catapults_self(), &urgent);
}

static catapults_t spawn_as(struct task *task, void *(*start)(void *), void *argument) {
    catapults_t thread;
    require(catapults_create(&thread, &(struct catapults_attributes){.object = task}, start, argument) == 0);
    return thread;
}

/* Until all have slept, if they wake at all. */
static void *compute(void *argument) {
    for (int64_t end = catapults_now() + patience; !over;) {
        for (volatile int i = 0; i < 10000; i++)
            ; /* in libc, which is asked for the time, it is not left */
        if (catapults_now() > end) {
            in_vain = 1;
            break;
        }
    }
    return argument;
}

static void *sleep_often(void *argument) {
    for (int i = 0; i < TIMES; i++)
        require(catapults_sleep((intptr_t)argument * MS) == 0);
    return argument;
}

static catapults_t computing[PROCESSORS];

/* One that computes on each processor, and nobody else looks before they are through. */
static void begin_to_compute(void) {
    begin(POLICIES "/urgency.so", never);
    for (int i = 0; i < PROCESSORS; i++)
        computing[i] = spawn_as(&low, compute, NULL);
}

static void end_computing(void) {
    over = 1;
    for (int i = 0; i < PROCESSORS; i++)
        require(catapults_join(computing[i], NULL) == 0);
    require(!in_vain);
}

static void sleep_beside(int sleepers) {
    catapults_t sleeping[MOST];
    begin_to_compute();
    for (intptr_t i = 0; i < sleepers; i++)
        sleeping[i] = spawn_as(&urgent, sleep_often, (void *)(i + 1));
    for (int i = 0; i < sleepers; i++)
        require(catapults_join(sleeping[i], NULL) == 0);
    end_computing();
}

static void one_sleeps(void) { sleep_beside(1); }

static void several_sleep(void) { sleep_beside(MOST); }

/* What others sleep for first comes later. */
static void who_sleeps_last_wakes_first(void) {
    begin_to_compute();
    catapults_t sleeps = spawn_as(&urgent, sleep_often, (void *)50);
    for (int i = 0; i < TIMES; i++)
        require(catapults_sleep(5 * MS) == 0);
    end_computing();
    require(catapults_join(sleeps, NULL) == 0);
}

static void *wait_in_vain(void *argument) {
    static catapults_mutex_t mutex;
    static catapults_cond_t nothing;
    require(catapults_mutex_lock(&mutex) == 0);
    for (int i = 0; i < TIMES; i++)
        require(catapults_cond_wait_until(&nothing, &mutex, catapults_now() + 2 * MS) == ETIMEDOUT);
    require(catapults_mutex_unlock(&mutex) == 0);
    return argument;
}

static void one_waits_until_an_instant(void) {
    begin_to_compute();
    require(catapults_join(spawn_as(&urgent, wait_in_vain, NULL), NULL) == 0);
    end_computing();
}

#if PROCESSORS == 1
static volatile long turns;

static void *take_turns(void *argument) {
    static volatile intptr_t last;
    while (!over)
        if (last != (intptr_t)argument) {
            last = (intptr_t)argument;
            turns++;
        }
    return NULL;
}

/* The policy takes turns at each of them. */
static void ticks_do_not_come_sooner_for_sleepers(void) {
    begin(POLICIES "/ticks.so", 20 * MS);
    catapults_t threads[] = {spawn(take_turns, (void *)1), spawn(take_turns, (void *)2)};
    int64_t start = catapults_now();
    while (catapults_now() < start + 400 * MS)
        require(catapults_sleep(MS) == 0);
    int64_t passed = catapults_now() - start;
    over = 1;
    for (int i = 0; i < 2; i++)
        require(catapults_join(threads[i], NULL) == 0);
    require(turns > 2 && turns < 10 + 3 * passed / (20 * MS));
}
#endif

int main(void) {
#if defined(ACTIVATED)
    setenv("CATAPULTS_ACTIVATIONS", "1", 1);
#endif
    const struct CMUnitTest tests[] = {
        child_test(one_sleeps),
        child_test(several_sleep),
        child_test(who_sleeps_last_wakes_first),
        child_test(one_waits_until_an_instant),
#if PROCESSORS == 1
        child_test(ticks_do_not_come_sooner_for_sleepers),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
