/*
 * A timer of the kernel for each kernel thread. It is set for one instant at a time, and only while somebody waits.
 */
#include "contexts/here.h"
#include "preemption/kernel_timer.h"

#include <errno.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SECOND = 1000000000 };

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

static char mark; /* its address tells our timers from the application's */

/* The system call itself: libc's wrapper would set errno, and the tools intercept it. */
static void set(int flags, int64_t nanoseconds);

int preemption_timer_make(void) {
    struct sigevent event = {
        .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = PREEMPTION_SIGNAL, .sigev_value.sival_ptr = &mark};
    event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
    if (syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &here()->timer.timer) != 0)
        return errno;
    here()->timer.made = true;
    return 0;
}

bool preemption_timer_sent(const siginfo_t *info) { return info->si_code == SI_TIMER && info->si_ptr == &mark; }

void preemption_timer_retry(int64_t nanoseconds) { set(0, nanoseconds); }

void preemption_arm(int64_t instant) {
    here()->timer.instant = instant;
    set(TIMER_ABSTIME, instant);
}

/* The system call itself: the tools intercept libc's function. */
bool preemption_is_due(void) {
    struct timespec now;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now); /* every Linux has it */
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec >= here()->timer.instant;
}

void preemption_rearm(void) { set(TIMER_ABSTIME, here()->timer.instant); }

static void set(int flags, int64_t nanoseconds) {
    if (!here()->timer.made)
        return;
    if (nanoseconds < 1)
        nanoseconds = 1; /* 0 would disarm it */
    struct itimerspec when = {.it_value = {.tv_sec = nanoseconds / SECOND, .tv_nsec = nanoseconds % SECOND}};
    long number = SYS_timer_settime, timer = here()->timer.timer;
#if defined(__x86_64__)
    register long none __asm__("r10") = 0;
    __asm__ volatile("syscall"
                     : "+a"(number)
                     : "D"(timer), "S"((long)flags), "d"(&when), "r"(none)
                     : "rcx", "r11", "memory");
#elif defined(__aarch64__)
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = timer;
    register long x1 __asm__("x1") = flags;
    register const void *x2 __asm__("x2") = &when;
    register long x3 __asm__("x3") = 0;
    __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
#else
#error "no system call for this architecture"
#endif
}
