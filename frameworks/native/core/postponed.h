/*
 * Turns for which there is no frame.
 */
#ifndef CATAPULTS_CORE_POSTPONED_H
#define CATAPULTS_CORE_POSTPONED_H

#include "core/state.h"

/* Postpones the thread whose turn it is here, and which has to wait behind others for a processor. */
void core_postpone(struct processor *here, struct dispatcher_thread *thread);

/* The donor lends to a postponed thread, which gets the donor's place in the list, if that comes first. */
void core_postpone_less(struct processor *here, struct dispatcher_thread *thread,
                        const struct dispatcher_thread *donor);

/* Postponed threads for which there is room become READY. Not between core_step_aside and core_step_back: each is an
 * event of its own. */
void core_let_in(struct processor *here);

/* Whether there is a processor that the postponed thread may run on, and that no turn waits for. */
bool core_is_expected(struct processor *here, const struct dispatcher_thread *thread);

#endif
