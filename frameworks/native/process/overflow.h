/*
 * Threads that overflow their stacks.
 */
#ifndef CATAPULTS_PROCESS_OVERFLOW_H
#define CATAPULTS_PROCESS_OVERFLOW_H

#include "process/member.h"

/* The SIGSEGV of a thread that has overflowed its stack says so. The second: on the calling kernel thread, too. Its
 * handler runs on `memory`, of at least OVERFLOW_STACK bytes; NULL: on as many that it takes for good. */
enum { OVERFLOW_STACK = 16 << 10 };
void overflow_install(void);
void overflow_attach(void *memory, size_t size);

#endif
