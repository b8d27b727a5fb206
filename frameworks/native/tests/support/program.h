/*
 * What the programs of many tests have in common: they start the runtime, and threads that they wait for.
 */
#ifndef CATAPULTS_PROGRAM_H
#define CATAPULTS_PROGRAM_H

#include "catapults.h"
#include "support/child.h"

/* Under the built-in policy, first come, first served. */
static inline void begin_fifo(void) { require(catapults_init(NULL) == 0); }

/* Under a policy that preempts: who comes or wakes runs at once. */
static inline void begin_eagerly(void) {
    require(catapults_init(&(struct catapults_options){.policy = POLICIES "/eager.so"}) == 0);
}

static inline catapults_t spawn(void *(*start)(void *), void *argument) {
    catapults_t thread;
    require(catapults_create(&thread, NULL, start, argument) == 0);
    return thread;
}

/* The same of a thread that is called as its argument says. */
static inline catapults_t spawn_called(void *(*start)(void *), void *name) {
    catapults_t thread;
    require(catapults_create(&thread, &(struct catapults_attributes){.name = name}, start, name) == 0);
    return thread;
}

/* What the thread returned. */
static inline void *result_of(catapults_t thread) {
    void *result;
    require(catapults_join(thread, &result) == 0);
    return result;
}

static inline intptr_t join(catapults_t thread) { return (intptr_t)result_of(thread); }

#endif
