/*
 * System calls without libc: they leave errno alone. Results below zero are error numbers, negated.
 */
#ifndef CATAPULTS_SYSTEM_H
#define CATAPULTS_SYSTEM_H

#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>

static inline long system_call(long number, long a, long b, long c, long d, long e) {
#if defined(__x86_64__)
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = 0;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
#elif defined(__aarch64__)
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = 0;
    __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    return x0;
#endif
}

enum { FUTEX_WAIT_PRIVATE_ = 128, FUTEX_WAKE_PRIVATE_ = 129 };

/* Sleeps while *word is `value`, and at most `nanoseconds` (negative: for good). May return early. */
static inline void futex_wait(_Atomic uint32_t *word, uint32_t value, int64_t nanoseconds) {
    struct timespec limit = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    /* However it ends, the caller looks at the word. */
    system_call(SYS_futex, (long)word, FUTEX_WAIT_PRIVATE_, value, nanoseconds < 0 ? 0 : (long)&limit, 0);
}
static inline void futex_wake(_Atomic uint32_t *word, int most) {
    system_call(SYS_futex, (long)word, FUTEX_WAKE_PRIVATE_, most, 0, 0); /* it does not matter how many it were */
}

/* Not SIGTRAP: blocked, it would end the process if code that is executed step by step came here. */
#define SIGNALS_ALL (~(UINT64_C(1) << (5 - 1)))

/* Sets the mask of signals; returns the one before. */
static inline uint64_t signal_mask(uint64_t mask) {
    uint64_t old = 0;
    /* Cannot fail. */
    system_call(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, (long)&mask, (long)&old, 8, 0);
    return old;
}

#endif
