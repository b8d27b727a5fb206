/*
 * The end of a thread.
 */
#ifndef CATAPULTS_END_H
#define CATAPULTS_END_H

#include "threads/handle.h"

/* Ends the running thread, whose stack is unwound or need not be. Runs the cleanup handlers that are left, and the
 * destructors of its keys. Does not return: see dispatcher_exit. */
void end(struct catapults_handle *self, void *result);

/* Calls the destructors of keys for what `self` has, and frees the memory for it. */
void keys_destroy(struct catapults_handle *self);

/* Frees that only. */
void keys_forget(struct catapults_handle *thread);

#endif
