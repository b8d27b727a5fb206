/*
 * Words for which threads wait: all locks of NPTL are made of these.
 */
#ifndef CATAPULTS_BENEATH_FUTEX_H
#define CATAPULTS_BENEATH_FUTEX_H

#include "beneath/thread.h"

/* futex(2). */
long futex_call(const struct call *call);

/* A mutex with priority inheritance is free: the first that waits has it, and the word says so, with these bits. May
 * run other threads. */
void futex_pass_on(uint32_t *word, uint32_t more);

/* What the kernel does with the call after a handler of a signal. */
enum again futex_again(const struct call *call);

/* Takes the first thread that waits for the word out of its list. It is still to be unblocked. NULL: none waits. */
struct beneath_thread *futex_take(const uint32_t *word);

/* In a child of fork: nobody waits. */
void futex_restart(void);

#endif
