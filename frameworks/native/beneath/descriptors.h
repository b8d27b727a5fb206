/*
 * Waiting for descriptors: the driver of the dispatcher, and the threads that it knows of.
 */
#ifndef CATAPULTS_BENEATH_DESCRIPTORS_H
#define CATAPULTS_BENEATH_DESCRIPTORS_H

#include "beneath/thread.h"

/* Waits until something has come to one of these, or the instant. 0: look; -ETIMEDOUT, -EINTR, -ENOMEM. */
long descriptors_wait(struct pollfd *first, nfds_t count, enum dispatcher_reason reason, int64_t instant);

/* What poll(2) says of them at once. */
long descriptors_look(struct pollfd *first, nfds_t count);

/* A thread that does not block these signals is about to wait: a processor that sleeps looks for them, too. Within
 * dispatcher_enter. */
void descriptors_open_for(uint64_t mask);

/* A thread blocks more signals now, or has ended: those that all block must not come to that processor. */
void descriptors_close(void);

/* Has the processor that sleeps in the kernel, if there is one, look again. False: none sleeps without the lock. For
 * any kernel thread. */
bool descriptors_kick(void);

/* In a child of fork: nobody waits. */
void descriptors_restart(void);

#endif
