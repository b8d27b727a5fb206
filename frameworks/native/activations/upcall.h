/*
 * Stacks of the library.
 */
#ifndef CATAPULTS_UPCALL_H
#define CATAPULTS_UPCALL_H

#include <signal.h>
#include <stdbool.h>

/* The first keeps a stack for an upcall; false: there is no room. After some, the second is called. */
bool upcall_give(const stack_t *stack);
void upcall_given(void);

#endif
