/*
 * A timer of the kernel for each kernel thread. It is set for one instant at a time, and only while somebody waits.
 */
#include "preemption/kernel_timer.h"

#include <stddef.h>

#include "contexts/kernel_clock.h"
#include "contexts/here.h"
#include "contexts/system.h"

enum { SECOND = 1000000000 };

static char mark; /* its address tells our timers from the application's */

static void set(int flags, int64_t nanoseconds);

int preemption_timer_make(void) {
    union sigval ours = {.sival_ptr = &mark};
    int error = -system_timer_create(CLOCK_MONOTONIC, system_gettid(), PREEMPTION_SIGNAL, ours, &here()->timer.timer);
    here()->timer.made = !error;
    return error;
}

bool preemption_timer_sent(const siginfo_t *info) { return info->si_code == SI_TIMER && info->si_ptr == &mark; }

void preemption_timer_retry(int64_t nanoseconds) { set(0, nanoseconds); }

void preemption_arm(int64_t instant) {
    here()->timer.instant = instant;
    set(TIMER_ABSTIME, instant);
}

bool preemption_is_due(void) { return clock_now() >= here()->timer.instant; }

void preemption_rearm(void) { set(TIMER_ABSTIME, here()->timer.instant); }

static void set(int flags, int64_t nanoseconds) {
    if (!here()->timer.made)
        return;
    if (nanoseconds < 1)
        nanoseconds = 1; /* 0 would disarm it */
    struct itimerspec when = {.it_value = {.tv_sec = nanoseconds / SECOND, .tv_nsec = nanoseconds % SECOND}};
    system_timer_settime(here()->timer.timer, flags, &when); /* cannot fail: the timer is its own */
}
