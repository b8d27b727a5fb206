/*
 * Threads that overflow their stacks.
 */
#ifndef CATAPULTS_PROCESS_OVERFLOW_H
#define CATAPULTS_PROCESS_OVERFLOW_H

#include "process/handle.h"

/* The SIGSEGV of a thread that has overflowed its stack says so. The second: on the calling kernel thread, too, where
 * the handler has `memory`, of at least OVERFLOW_STACK bytes, for a stack; NULL: it takes as many for good. */
enum { OVERFLOW_STACK = 16 << 10 };
void overflow_install(void);
void overflow_attach(void *memory, size_t size);

#endif
