/*
 * Threads that a policy never dispatches.
 */
#ifndef CATAPULTS_CORE_STARVATION_H
#define CATAPULTS_CORE_STARVATION_H

#include "core/state.h"

/* A policy that lets a thread wait for too long is out. Nothing is RUNNING. */
void core_look_for_starving(struct processor *here, int64_t now);

#endif
