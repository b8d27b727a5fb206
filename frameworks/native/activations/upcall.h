/*
 * Stacks of the library.
 */
#ifndef CATAPULTS_UPCALL_H
#define CATAPULTS_UPCALL_H

#include <signal.h>
#include <stdbool.h>

/* Keeps a stack for an upcall; false: there is no room. After some, upcall_given. */
bool upcall_give(const stack_t *stack);
void upcall_given(void);

#endif
