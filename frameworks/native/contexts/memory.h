/*
 * The runtime's own memory, for what it keeps of schedulers, processors, descriptors and the like. libc's allocator has
 * locks. A thread that has one of them may have lost its processor, or be blocked in the kernel. Code within the
 * runtime must not wait for that thread, which needs the runtime to go on.
 *
 * Blocks are of powers of two, cut from slabs of one size each and recycled; larger ones are mappings of their own.
 *
 * All of it within dispatcher_enter, or while there is one thread.
 */
#ifndef CATAPULTS_MEMORY_H
#define CATAPULTS_MEMORY_H

#include <stddef.h>

/* Zeroed memory, at an address that is a multiple of 64, or of 16 if it is less than that; NULL: there is none. */
void *memory_take(size_t size);

/* Gives it back. NULL: does nothing. */
void memory_give(void *block);

#endif
