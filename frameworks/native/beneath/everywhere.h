/*
 * Calls that change the kernel thread, and that the application means for all of its threads: whom it may act as. Every
 * kernel thread carries them out.
 */
#ifndef CATAPULTS_BENEATH_EVERYWHERE_H
#define CATAPULTS_BENEATH_EVERYWHERE_H

#include "beneath/call.h"

/* Returns when all have; what the kernel said here. If it says something else on another, the process ends. */
long everywhere_call(const struct call *call);

/* In the handler of a processor's interruption, wherever it is. */
void everywhere_attend(void);

#endif
