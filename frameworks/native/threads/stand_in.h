/*
 * Threads that stand in for another under a policy of their own: see catapults_stand_in.
 */
#ifndef CATAPULTS_STAND_IN_H
#define CATAPULTS_STAND_IN_H

#include "threads/handle.h"

/* The thread ends, and so do its stand-ins, when they have a turn. Runs no other. */
void stand_ins_end(struct catapults_handle *primary);

/* In a child of fork, where they no longer exist. */
void stand_ins_forget(struct catapults_handle *primary);

#endif
