/*
 * A policy that breaks a rule is replaced by the built-in FIFO.
 */
#ifndef CATAPULTS_CORE_CONTAINMENT_H
#define CATAPULTS_CORE_CONTAINMENT_H

#include "core/state.h"

/* What a handler stopped at that was left because it ran for too long. */
extern const struct catapults_stop core_overran __attribute__((visibility("hidden")));

/* The policy of `scheduler` is out: says so, and files all that is under it under the built-in FIFO, as the host's book
 * has it; `runs` (or NULL) is the thread that is RUNNING. The event under way is complete then. */
void core_contain(struct processor *here, struct scheduler *scheduler, const char *event,
                  const struct catapults_stop *stop, const char *text, const struct dispatcher_thread *runs);

#endif
