/*
 * What costs more the more threads there are, though it concerns only a few of them: each figure is measured beside so
 * many threads that sleep all along.
 *
 *   growth timeout SLEEPERS           the instant comes of a thread that waits for a lock, and for which another waits;
 * processor time growth steal SLEEPERS POLICY.so   a turn of one of three threads that are bound to the first of two
 * processors, while the second has nothing to do and looks for something to take; the policy is one with nodes growth
 * turn SLEEPERS POLICY.so    a turn of one of three threads on two processors
 *
 * Prints a line `name value`, in nanoseconds.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "catapults.h"

enum { SETTLE = 200000000, MEASURED = 1000000000, INSTANT = 100000 };

static _Noreturn void fail(const char *why) {
    fprintf(stderr, "growth: %s\n", why);
    exit(EXIT_FAILURE);
}

static const struct catapults_attributes small = {.detached = true, .stack_size = 16384};

static void create(void *(*function)(void *)) {
    if (catapults_create(NULL, &small, function, NULL) != 0)
        fail("a thread was not created");
}

static void *sleeps(void *argument) {
    for (;;)
        catapults_sleep(INT64_C(3600000000000));
    return argument;
}

/* How often what is measured has happened. */
static _Atomic int64_t happened;

/* ---- The instant of a thread in the middle of a chain ---------------------------------------------------------------
 */

static catapults_mutex_t far = CATAPULTS_MUTEX_INITIALIZER, near = CATAPULTS_MUTEX_INITIALIZER;

static void *owns_the_far_one(void *argument) {
    catapults_mutex_lock(&far);
    return sleeps(argument);
}

static void *waits_until_an_instant(void *argument) {
    catapults_mutex_lock(&near);
    for (;; happened++)
        catapults_mutex_lock_until(&far, catapults_now() + INSTANT);
    return argument;
}

static void *waits_for_the_near_one(void *argument) {
    catapults_mutex_lock(&near);
    return argument;
}

/* ---- Turns ------------------------------------------------------------------------------------------------------- */

static void *yields(void *argument) {
    for (;; happened++)
        catapults_yield();
    return argument;
}

static void *yields_at_home(void *argument) {
    if (catapults_setaffinity(catapults_self(), 1) != 0)
        fail("a thread was not bound");
    return yields(argument);
}

static int64_t processor_time(void) {
    struct timespec spent;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
    return spent.tv_sec * INT64_C(1000000000) + spent.tv_nsec;
}

int main(int count, char **arguments) {
    const char *what = count > 2 ? arguments[1] : "";
    bool timeout = strcmp(what, "timeout") == 0, steal = strcmp(what, "steal") == 0, turn = strcmp(what, "turn") == 0;
    if (!(timeout && count == 3) && !((steal || turn) && count == 4))
        fail("usage: growth timeout SLEEPERS | growth steal|turn SLEEPERS POLICY.so");
    long sleepers = strtol(arguments[2], NULL, 10);
    struct catapults_options options = {.processors = timeout ? 1 : 2, .policy = timeout ? NULL : arguments[3]};
    if (catapults_init(&options) != 0)
        fail("the runtime did not start");
    for (long i = 0; i < sleepers; i++)
        create(sleeps);
    if (timeout) {
        create(owns_the_far_one);
        catapults_sleep(1);
        create(waits_until_an_instant);
        catapults_sleep(1);
        create(waits_for_the_near_one);
    } else {
        for (int i = 0; i < 3; i++)
            create(steal ? yields_at_home : yields);
    }
    catapults_sleep(SETTLE);
    int64_t before = happened, start = catapults_now(), spent = processor_time();
    catapults_sleep(MEASURED);
    int64_t times = happened - before;
    if (times == 0)
        fail("nothing happened");
    int64_t took = timeout ? processor_time() - spent : catapults_now() - start;
    printf("%s %.1f\n", what, (double)took / (double)times);
    fflush(stdout);
    _Exit(EXIT_SUCCESS);
}
