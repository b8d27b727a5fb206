/*
 * For signal.c: see kernel_timer.c.
 */
#ifndef CATAPULTS_PREEMPTION_TIMER_H
#define CATAPULTS_PREEMPTION_TIMER_H

#include "preemption/preemption.h"

/* Gives the calling kernel thread a timer. Returns 0 or an error number. */
int preemption_timer_make(void);

/* Whether a signal is from such a timer. */
bool preemption_timer_sent(const siginfo_t *info);

/* Interrupts the calling kernel thread after so many nanoseconds. */
void preemption_timer_retry(int64_t nanoseconds);

#endif
