/*
 * The clock, and sleeping.
 */
#include <time.h>

#include "catapults.h"
#include "dispatcher/dispatcher.h"

enum { SECOND = 1000000000 };

int64_t catapults_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * (int64_t)SECOND + now.tv_nsec;
}

void catapults_sleep_until(int64_t instant) {
    dispatcher_enter();
    dispatcher_block(BLOCK_SLEEP, instant);
    dispatcher_leave();
}

void catapults_sleep(int64_t nanoseconds) {
    int64_t instant;
    if (__builtin_add_overflow(catapults_now(), nanoseconds, &instant))
        instant = CATAPULTS_FOREVER;
    catapults_sleep_until(instant);
}
