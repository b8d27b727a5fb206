/*
 * Preemption by time, by signals.
 */
#ifndef CATAPULTS_PROCESS_PREEMPT_H
#define CATAPULTS_PROCESS_PREEMPT_H

#include "process/member.h"

/* Sets host->arm, unless the program cannot be preempted; the calling kernel thread then can be. */
void preempt_start(const struct catapults_options *options, struct dispatcher_host *host);

/* The calling kernel thread can be interrupted, too. */
void preempt_attach(void);

/* In a child of fork: its kernel thread can be interrupted, too. */
void preempt_restart(void);

/* For signals that are caught for threads: the calling kernel thread can be interrupted, and it is known where the
 * application's code is, whether or not threads are preempted. */
void preempt_for_signals(void);

#endif
