/*
 * For signal.c: see code.c.
 */
#ifndef CATAPULTS_PREEMPTION_CODE_H
#define CATAPULTS_PREEMPTION_CODE_H

#include "preemption/preemption.h"

/* Finds the executable's code. EINVAL, ENOTSUP: as of preemption_start. */
int preemption_code_start(const void *runtime);

#endif
