/*
 * The kernel's calls that may make their caller wait, when there are several threads. Each tries without waiting, and
 * has only its thread wait. Results are the kernel's.
 */
#ifndef CATAPULTS_BENEATH_WAITS_H
#define CATAPULTS_BENEATH_WAITS_H

#include "beneath/call.h"

/* transfer.c: what moves data, or makes connections. */
long transfer_read(const struct call *call);
long transfer_write(const struct call *call);
long transfer_accept(const struct call *call);
long transfer_message(const struct call *call); /* of a POSIX queue */
long transfer_connect(const struct call *call);

/* readiness.c: what waits for several descriptors. */
long readiness_poll(const struct call *call);
long readiness_select(const struct call *call);
long readiness_epoll(const struct call *call);
long readiness_ring(const struct call *call);

/* pause.c */
long pause_nanosleep(const struct call *call);
long pause_clock_nanosleep(const struct call *call);

/* again.c: what can be tried without waiting, but of which nothing says when to try again. */
long again_wait4(const struct call *call);
long again_waitid(const struct call *call);
long again_flock(const struct call *call);
long again_lock(const struct call *call);
long again_send(const struct call *call); /* of System V: msgsnd, msgrcv, semop, semtimedop */
long again_receive(const struct call *call);
long again_semaphores(const struct call *call);

#endif
