/*
 * Waiting for an instant.
 */
#include <errno.h>

#include "beneath/instant.h"
#include "beneath/thread.h"
#include "beneath/waits.h"

static long sleep_until(int64_t instant, struct timespec *left) {
    int result = 0;
    while (result == 0)
        result = thread_wait_alone(BLOCK_SLEEP, instant);
    if (result != EINTR)
        return 0;
    int64_t more = instant - clock_now();
    if (left && more > 0)
        *left = (struct timespec){.tv_sec = more / SECOND, .tv_nsec = more % SECOND};
    return -EINTR;
}

long pause_nanosleep(const struct call *call) {
    int64_t instant = instant_after((const struct timespec *)call->first);
    return instant < 0 ? -EINVAL : sleep_until(instant, (struct timespec *)call->second);
}

long pause_clock_nanosleep(const struct call *call) {
    clockid_t clock = (clockid_t)call->first;
    bool absolute = call->second & TIMER_ABSTIME;
    const struct timespec *time = (const struct timespec *)call->third;
    if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC && clock != CLOCK_BOOTTIME && clock != CLOCK_TAI)
        return call_kernel(call); /* clocks of processors' time, and what it does not know */
    int64_t instant = absolute ? instant_at(time, clock) : instant_after(time);
    return instant < 0 ? -EINVAL : sleep_until(instant, absolute ? NULL : (struct timespec *)call->fourth);
}
