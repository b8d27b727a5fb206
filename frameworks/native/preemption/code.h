/*
 * For signal.c: see code.c.
 */
#ifndef CATAPULTS_PREEMPTION_CODE_H
#define CATAPULTS_PREEMPTION_CODE_H

#include "preemption/preemption.h"

/* Finds the executable's code. ENOTSUP as preemption_start says, ENOSPC. */
int preemption_code_start(const void *runtime);

#endif
