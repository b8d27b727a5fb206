/*
 * Robust mutexes: what a thread has of them at its end is told to those who wait.
 */
#ifndef CATAPULTS_BENEATH_ROBUST_H
#define CATAPULTS_BENEATH_ROBUST_H

#include "beneath/thread.h"

/* set_robust_list(2). */
long robust_set(const struct call *call);

/* The thread ends. May run other threads. */
void robust_end(struct beneath_thread *self);

#endif
