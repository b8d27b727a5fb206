/*
 * Kernel threads that libc does not know of. They have no thread_local variables of their own: libc's pointer to those
 * is the maker's.
 */
#ifndef CATAPULTS_KERNEL_THREAD_H
#define CATAPULTS_KERNEL_THREAD_H

#include <stdint.h>

/* clone(2), with these flags: the new one calls start(argument) on its own stack below `top`, which is aligned to 16,
 * and must not return from there. `word`: of CLONE_CHILD_CLEARTID, or NULL. Returns what clone does. */
long kernel_thread_make(long flags, void *top, void (*start)(void *argument), void *argument, _Atomic uint32_t *word);

#endif
