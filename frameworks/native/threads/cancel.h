/*
 * Cancellation, for the calls that are cancellation points. Such a call begins with catapults_testcancel, and blocks
 * with cancel_block. If that says ECANCELED, it puts everything in order, leaves, and calls catapults_testcancel again.
 * For ERESTART it does the same with signals_run (signals.h), and then either begins anew or returns EINTR.
 */
#ifndef CATAPULTS_THREADS_CANCEL_H
#define CATAPULTS_THREADS_CANCEL_H

#include <errno.h>

#include "threads/handle.h"
#include "process/signals.h"

/* Another processor may ask for it at any time. */
static inline uint8_t cancel_state(const struct catapults_handle *thread) {
    return __atomic_load_n(&thread->cancel, __ATOMIC_RELAXED);
}
static inline void cancel_add(struct catapults_handle *thread, enum cancel_state state) {
    if (dispatcher_guard.several)
        __atomic_fetch_or(&thread->cancel, (uint8_t)state, __ATOMIC_RELAXED);
    else
        thread->cancel |= (uint8_t)state;
}

/* Ends the caller. */
__attribute__((cold, noreturn)) void cancel_now(void);

/* As catapults_testcancel, for `self`. */
static inline void cancel_test(struct catapults_handle *self) {
    if (__builtin_expect(cancel_state(self) == CANCEL_REQUESTED, 0))
        cancel_now();
    signals_check(&self->member);
}

/* For the following: waits for a thread that *to names; NULL: for none. */
static inline int cancel_wait_only(struct catapults_handle *self, const uintptr_t *to, bool lends,
                                   enum dispatcher_reason reason, int64_t instant) {
    self->cancellable = true;
    int result = to ? dispatcher_wait_for(to, lends, reason, instant) : dispatcher_block(reason, instant);
    self->cancellable = false;
    if (__builtin_expect(!self->cancelled, 1))
        return result;
    self->cancelled = false;
    return ECANCELED;
}

/* Blocks `self`, which runs, like dispatcher_wait_for; also until it is cancelled (ECANCELED), or has a signal that it
 * does not block (ERESTART). */
static inline int cancel_wait_for(struct catapults_handle *self, const uintptr_t *to, bool lends,
                                  enum dispatcher_reason reason, int64_t instant) {
    if (__builtin_expect(cancel_state(self) == CANCEL_REQUESTED, 0))
        return ECANCELED;
    if (__builtin_expect(self->member.signals.due, 0))
        return ERESTART;
    self->member.signals.place = SIGNAL_PLACE_WAIT;
    int result = cancel_wait_only(self, to, lends, reason, instant);
    self->member.signals.place = SIGNAL_PLACE_ELSEWHERE;
    if (__builtin_expect(!self->member.signals.interrupted, 1))
        return result;
    self->member.signals.interrupted = false;
    return result ? result : ERESTART;
}

/* The same, like dispatcher_block. */
static inline int cancel_block(struct catapults_handle *self, enum dispatcher_reason reason, int64_t instant) {
    return cancel_wait_for(self, NULL, false, reason, instant);
}

/* The same, but signals that come wait for the end of the call. */
static inline int cancel_block_only(struct catapults_handle *self, enum dispatcher_reason reason, int64_t instant) {
    return cancel_state(self) == CANCEL_REQUESTED ? ECANCELED : cancel_wait_only(self, NULL, false, reason, instant);
}

#endif
