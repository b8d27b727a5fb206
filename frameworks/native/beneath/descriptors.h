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

/* In a child of fork: nobody waits. */
void descriptors_restart(void);

#endif
