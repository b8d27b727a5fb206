/*
 * Turns for which there is no frame.
 */
#ifndef CATAPULTS_CORE_POSTPONED_H
#define CATAPULTS_CORE_POSTPONED_H

#include "core/state.h"

/* The thread, whose turn it is here, and that has to wait behind others for a processor. */
void core_postpone(struct processor *here, struct dispatcher_thread *thread);

/* The donor lends to the thread, which is postponed: it has the donor's place, if that comes first. */
void core_postpone_less(struct processor *here, struct dispatcher_thread *thread,
                        const struct dispatcher_thread *donor);

/* Those that have room now are READY. Not within core_step_aside: each is an event of its own. */
void core_let_in(struct processor *here);

/* No turn waits for a processor that the thread, which is postponed, could wait for. */
bool core_is_expected(struct processor *here, const struct dispatcher_thread *thread);

#endif
