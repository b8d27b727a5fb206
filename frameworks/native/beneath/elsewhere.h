/*
 * Calls that wait in the kernel for a disk: another kernel thread makes them, so that the processor runs other threads
 * meanwhile. Page faults and what is not listed here still hold the processor.
 */
#ifndef CATAPULTS_BENEATH_ELSEWHERE_H
#define CATAPULTS_BENEATH_ELSEWHERE_H

#include "beneath/call.h"

/* What the call returns there. No signal ends the wait: the kernel lets none end these, either. Outside of
 * dispatcher_enter. */
long elsewhere_call(const struct call *call);

/* The same for what reads or writes files on disks: first tries whether it must wait at all. */
long elsewhere_transfer(const struct call *call);

/* Unblocks those whose calls have been made. In the driver. */
void elsewhere_attend(void);
bool elsewhere_any(void);

/* The call has changed the rights of the calling kernel thread: so do those that wait for something to do. The others
 * end after what they do now. Within dispatcher_enter. */
void elsewhere_renew(const struct call *call);

/* In a child of fork: there are none. */
void elsewhere_restart(void);

#endif
