/*
 * What the tests of several processors share: threads that compute, sleep or take turns.
 */
#ifndef PROCESSORS_TEST_H
#define PROCESSORS_TEST_H

#include <stdatomic.h>

#include "catapults.h"
#include "support/child.h"

enum { MS = 1000000 };

static inline catapults_t spawn(void *(*start)(void *), void *argument) {
    catapults_t thread;
    require(catapults_create(&thread, &(struct catapults_attributes){.object = argument}, start, argument) == 0);
    return thread;
}

static inline void begin(int processors, const char *policy) {
    alarm(HANGS);
    require(catapults_init(&(struct catapults_options){.processors = processors, .policy = policy}) == 0);
}

static inline void *sleep_a_while(void *argument) {
    catapults_sleep(20 * MS);
    return argument;
}

static inline void *turn(void *argument) {
    for (int i = 0; i < 2000; i++)
        catapults_yield();
    return argument;
}

/* In its own code: it makes no call of the runtime. */
static inline void compute_until(atomic_bool *flag, int64_t most) {
    for (int64_t end = catapults_now() + most; !atomic_load(flag) && catapults_now() < end;)
        for (int i = 0; i < 1000 && !atomic_load_explicit(flag, memory_order_relaxed); i++)
            ;
}

static inline void compute(int64_t duration) {
    atomic_bool never = false;
    compute_until(&never, duration);
}

#endif
