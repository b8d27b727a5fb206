/*
 * The clock, and sleeping.
 */
#include <errno.h>
#include <time.h>

#include "catapults.h"
#include "threads/cancel.h"

enum { SECOND = 1000000000 };

int64_t catapults_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * (int64_t)SECOND + now.tv_nsec;
}

void catapults_sleep_until(int64_t instant) {
    catapults_testcancel();
    dispatcher_enter();
    int result = cancel_block(handle_self(), BLOCK_SLEEP, instant);
    dispatcher_leave();
    if (result == ECANCELED)
        catapults_testcancel();
}

void catapults_sleep(int64_t nanoseconds) {
    int64_t instant;
    if (__builtin_add_overflow(catapults_now(), nanoseconds, &instant))
        instant = CATAPULTS_FOREVER;
    catapults_sleep_until(instant);
}
