/*
 * A policy that breaks a rule is replaced by the built-in FIFO.
 */
#ifndef CATAPULTS_CORE_CONTAINMENT_H
#define CATAPULTS_CORE_CONTAINMENT_H

#include "core/state.h"

/* The stop of a handler that ran for too long, and was left. */
extern const struct catapults_stop core_overran __attribute__((visibility("hidden")));

/* Replaces the policy of `scheduler` by the built-in FIFO: all that is under the scheduler is filed as the host's books
 * say, and the failure is reported. `stop` or `text`: what the policy did wrong at `event`. `runs`: the thread that is
 * RUNNING, or NULL. The event under way is complete then. */
void core_contain(struct processor *here, struct scheduler *scheduler, const char *event,
                  const struct catapults_stop *stop, const char *text, const struct dispatcher_thread *runs);

#endif
