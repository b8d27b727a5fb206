/*
 * Timers that tell one thread (SIGEV_THREAD_ID; glibc's SIGEV_THREAD is one that tells a thread of its own). The kernel
 * knows no such thread: its timer interrupts the runtime, which sends the signal on. All others are the kernel's alone.
 */
#ifndef CATAPULTS_BENEATH_TIMERS_H
#define CATAPULTS_BENEATH_TIMERS_H

#include "beneath/call.h"

/* The kernel's calls. */
long timers_create(const struct call *call);
long timers_delete(const struct call *call);
long timers_overrun(const struct call *call);

/* Sends on what has come. In the driver. The second: whether anything has. */
void timers_attend(void);
bool timers_any(void);

/* In a child of fork: there are none. */
void timers_restart(void);

#endif
