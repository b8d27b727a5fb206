/*
 * Threads that wait for a lock or a condition, in the order in which they came. The list is part of the lock; the links
 * are in the threads. A thread that is served is taken out of the list: so it knows that it was served, whatever else
 * has woken it.
 */
#ifndef CATAPULTS_WAITERS_H
#define CATAPULTS_WAITERS_H

#include <errno.h>

#include "threads/handle.h"
#include "process/signals.h"
#include "threads/cancel.h"

/* In the middle of a wait, where the caller keeps its place: leaves, runs handlers, and enters again. What it waits for
 * may have happened since, or it may have been taken out of its list. */
void waiters_run_handlers(struct catapults_handle *self);

static inline void waiters_append(struct catapults_waiters *waiters, struct catapults_handle *thread) {
    thread->wait_next = NULL;
    thread->wait_previous = waiters->last;
    if (thread->wait_previous)
        thread->wait_previous->wait_next = thread;
    else
        waiters->first = thread;
    waiters->last = thread;
    thread->waiting = waiters;
}

static inline void waiters_remove(struct catapults_waiters *waiters, struct catapults_handle *thread) {
    if (thread->wait_previous)
        thread->wait_previous->wait_next = thread->wait_next;
    else
        waiters->first = thread->wait_next;
    if (thread->wait_next)
        thread->wait_next->wait_previous = thread->wait_previous;
    else
        waiters->last = thread->wait_previous;
    thread->waiting = NULL;
}

/* Blocks the caller, which is in a list, until waiters_wake, or the instant. Handlers of signals run meanwhile; if it
 * was taken out of its list since, it does not block again: 0. */
static inline int waiters_sleep(struct catapults_handle *self, enum dispatcher_reason reason, int64_t instant) {
    for (;;) {
        if (__builtin_expect(!self->member.signals.due, 1)) {
            self->asleep = true;
            self->member.signals.place = SIGNAL_PLACE_WAIT;
            int result = dispatcher_block(reason, instant);
            self->member.signals.place = SIGNAL_PLACE_ELSEWHERE;
            self->asleep = false;
            if (__builtin_expect(!self->member.signals.due, 1))
                return result;
            if (!self->member.signals.interrupted) {
                waiters_run_handlers(self);
                return result;
            }
        }
        waiters_run_handlers(self);
        if (!self->waiting)
            return 0;
    }
}

/* The same, also until it is cancelled (ECANCELED), or handlers are to run (ERESTART). */
static inline int waiters_sleep_or_cancel(struct catapults_handle *self, enum dispatcher_reason reason,
                                          int64_t instant) {
    self->asleep = true;
    int result = cancel_block(self, reason, instant);
    self->asleep = false;
    return result;
}

/* The same for a thread that *to names: see dispatcher_wait_for. Handlers of signals may have run. */
static inline int waiters_sleep_for(struct catapults_handle *self, const uintptr_t *to, bool lends,
                                    enum dispatcher_reason reason, int64_t instant) {
    int result = 0;
    if (__builtin_expect(!self->member.signals.due, 1)) {
        self->asleep = true;
        self->member.signals.place = SIGNAL_PLACE_WAIT;
        result = dispatcher_wait_for(to, lends, reason, instant);
        self->member.signals.place = SIGNAL_PLACE_ELSEWHERE;
        self->asleep = false;
        if (__builtin_expect(!self->member.signals.due, 1))
            return result;
    }
    waiters_run_handlers(self);
    return result;
}

/* Whether it is to be unblocked. If not, its instant has come, or it has not blocked yet. */
static inline bool waiters_may_wake(const struct catapults_handle *thread) {
    return thread->asleep && core_is_blocked(&thread->member.dispatched);
}

/* May run other threads. */
static inline void waiters_wake(struct catapults_handle *thread) {
    if (__builtin_expect(waiters_may_wake(thread), 1))
        dispatcher_unblock(&thread->member.dispatched);
}

/* The outcome of a wait that returned `result`. */
static inline int waiters_outcome(struct catapults_waiters *waiters, struct catapults_handle *self, int result) {
    if (__builtin_expect(!self->waiting, 1))
        return 0; /* served, if late */
    waiters_remove(waiters, self);
    return result;
}

/* Waits until it is served. ETIMEDOUT. */
static inline int waiters_wait(struct catapults_waiters *waiters, struct catapults_handle *self,
                               enum dispatcher_reason reason, int64_t instant) {
    waiters_append(waiters, self);
    return waiters_outcome(waiters, self, waiters_sleep(self, reason, instant));
}

/* The same. ETIMEDOUT, ECANCELED, ERESTART. */
static inline int waiters_wait_or_cancel(struct catapults_waiters *waiters, struct catapults_handle *self,
                                         enum dispatcher_reason reason, int64_t instant) {
    waiters_append(waiters, self);
    return waiters_outcome(waiters, self, waiters_sleep_or_cancel(self, reason, instant));
}

/* The next: the one that has waited longest, without suspended ones while others wait, too. There is one. */
static inline struct catapults_handle *waiters_first(const struct catapults_waiters *waiters) {
    struct catapults_handle *first = waiters->first, *next = first;
    while (next && __builtin_expect(next->suspended, 0))
        next = next->wait_next;
    return next ? next : first;
}

/* Whether a thread waits that is not suspended. */
static inline bool waiters_are_there(const struct catapults_waiters *waiters) {
    return waiters->first && !waiters_first(waiters)->suspended;
}

/* Takes out the next; there is one. */
static inline struct catapults_handle *waiters_take(struct catapults_waiters *waiters) {
    struct catapults_handle *first = waiters->first;
    if (__builtin_expect(first->suspended, 0)) {
        first = waiters_first(waiters);
        waiters_remove(waiters, first);
        return first;
    }
    waiters->first = first->wait_next;
    if (first->wait_next)
        first->wait_next->wait_previous = NULL;
    else
        waiters->last = NULL;
    first->waiting = NULL;
    return first;
}

/* Serves the next; there is one. May run other threads. */
static inline void waiters_serve(struct catapults_waiters *waiters) { waiters_wake(waiters_take(waiters)); }

/* Serves all before any of them runs: what they do then, be it to wait again or to destroy what they waited for, comes
 * after. May run other threads. */
static inline void waiters_serve_all(struct catapults_waiters *waiters) {
    struct catapults_handle *first;
    while ((first = waiters->first)) {
        waiters_remove(waiters, first);
        if (waiters_may_wake(first))
            dispatcher_unblock_only(&first->member.dispatched);
    }
    dispatcher_unblocked();
}

#endif
