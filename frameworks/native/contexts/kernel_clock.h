/*
 * The clocks of the kernel, in nanoseconds. It has code of its own in every process that reads most of them without a
 * system call (the vDSO).
 */
#ifndef CATAPULTS_KERNEL_CLOCK_H
#define CATAPULTS_KERNEL_CLOCK_H

#include <stdint.h>
#include <time.h>

/* `clock`: one that every Linux has. Handlers of signals that tools must not see call this, too. */
int64_t clock_time(clockid_t clock);

static inline int64_t clock_now(void) { return clock_time(CLOCK_MONOTONIC); }

#endif
