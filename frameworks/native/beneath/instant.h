/*
 * Times of the kernel's calls as instants of CLOCK_MONOTONIC. Negative: no time.
 */
#ifndef CATAPULTS_BENEATH_INSTANT_H
#define CATAPULTS_BENEATH_INSTANT_H

#include "contexts/kernel_clock.h"
#include "core/core.h"

enum { SECOND = 1000000000 };

static inline int64_t instant_in(int64_t nanoseconds) {
    int64_t now = clock_now();
    return nanoseconds >= DISPATCHER_FOREVER - now ? DISPATCHER_FOREVER : now + nanoseconds;
}

static inline int64_t instant_nanoseconds(const struct timespec *time) {
    if (time->tv_sec < 0 || time->tv_nsec < 0 || time->tv_nsec >= SECOND)
        return -1;
    return time->tv_sec >= DISPATCHER_FOREVER / SECOND ? DISPATCHER_FOREVER : time->tv_sec * SECOND + time->tv_nsec;
}

static inline int64_t instant_after(const struct timespec *time) {
    int64_t nanoseconds = instant_nanoseconds(time);
    return nanoseconds < 0 ? -1 : instant_in(nanoseconds);
}

/* Of a clock that goes on while nothing runs. */
static inline int64_t instant_at(const struct timespec *time, clockid_t clock) {
    int64_t at = instant_nanoseconds(time);
    if (at < 0 || at == DISPATCHER_FOREVER || clock == CLOCK_MONOTONIC)
        return at;
    int64_t left = at - clock_time(clock);
    return instant_in(left > 0 ? left : 0);
}

#endif
