/*
 * Cancellation, for the calls that are cancellation points. They begin with catapults_testcancel, block with
 * cancel_block, put everything in order when that says ECANCELED, leave, and then call catapults_testcancel again. The
 * same for ERESTART, and signals_run (signals.h), by which a call either begins anew or returns EINTR.
 */
#ifndef CATAPULTS_THREADS_CANCEL_H
#define CATAPULTS_THREADS_CANCEL_H

#include "threads/handle.h"

enum cancel_state {
    CANCEL_ENABLED = 0,
    CANCEL_REQUESTED = 1, /* and none of the others: it ends at its next cancellation point */
    CANCEL_DISABLED = 2,
    CANCEL_ENDING = 4 /* for good */
};

/* Another processor may ask for it at any time. */
static inline uint8_t cancel_state(const struct catapults_handle *thread) {
    return __atomic_load_n(&thread->cancel, __ATOMIC_RELAXED);
}
static inline void cancel_add(struct catapults_handle *thread, enum cancel_state state) {
    __atomic_fetch_or(&thread->cancel, (uint8_t)state, __ATOMIC_RELAXED);
}

/* Blocks `self`, which runs, like dispatcher_block; also until it is cancelled: ECANCELED; or has a signal that it
 * does not block: ERESTART. */
int cancel_block(struct catapults_handle *self, enum dispatcher_reason reason, int64_t instant);

/* The same, and signals that come wait for the end of the call. */
int cancel_block_only(struct catapults_handle *self, enum dispatcher_reason reason, int64_t instant);

/* As cancel_block, and dispatcher_wait_for. */
int cancel_wait_for(struct catapults_handle *self, const uintptr_t *to, bool lends, enum dispatcher_reason reason,
                    int64_t instant);

#endif
