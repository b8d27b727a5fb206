/*
 * How long a thread has run, by itself: it reads the processor's counter again and again. How often it does so says
 * less: a loop takes some threads longer than others, by where their stacks lie. Neither a call nor a system call.
 */
#ifndef CATAPULTS_RUNNING_TIME_H
#define CATAPULTS_RUNNING_TIME_H

#include <stdint.h>

#if defined(__x86_64__)
static inline uint64_t running_counter(void) { return __builtin_ia32_rdtsc(); }
/* Far shorter than a turn: 20 to 100 us. */
static inline uint64_t running_moment(void) { return 100000; }
#elif defined(__aarch64__)
static inline uint64_t running_counter(void) {
    uint64_t now;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(now));
    return now;
}
static inline uint64_t running_moment(void) { /* 50 us */
    uint64_t frequency;
    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(frequency));
    return frequency / 20000;
}
#endif

/* What has passed since *before, which becomes now; 0 if that is longer than a moment: it was the turn of somebody
 * else, or time of other programs. */
static inline uint64_t running_time(uint64_t *before) {
    uint64_t now = running_counter(), passed = now - *before;
    *before = now;
    return passed < running_moment() ? passed : 0;
}

#endif
