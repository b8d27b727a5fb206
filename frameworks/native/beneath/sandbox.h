/*
 * Filters of seccomp: what a program forbids itself, it forbids the runtime.
 */
#ifndef CATAPULTS_BENEATH_SANDBOX_H
#define CATAPULTS_BENEATH_SANDBOX_H

#include "beneath/call.h"

/* seccomp(2), and prctl(2) with PR_SET_SECCOMP. A filter that forbids what the runtime needs is told, and not
 * installed: EACCES. */
long sandbox_seccomp(const struct call *call);
long sandbox_property(const struct call *call);

#endif
