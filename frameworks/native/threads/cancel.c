#include "threads/cancel.h"

#include <errno.h>

#include "threads/signals.h"

static inline int wait_only(struct catapults_handle *self, const uintptr_t *to, bool lends,
                            enum dispatcher_reason reason, int64_t instant) {
    self->cancellable = true;
    int result = to ? dispatcher_wait_for(to, lends, reason, instant) : dispatcher_block(reason, instant);
    self->cancellable = false;
    if (self->cancelled) {
        self->cancelled = false;
        return ECANCELED;
    }
    return result;
}

int cancel_block(struct catapults_handle *self, enum dispatcher_reason reason, int64_t instant) {
    return cancel_wait_for(self, NULL, false, reason, instant);
}

int cancel_wait_for(struct catapults_handle *self, const uintptr_t *to, bool lends, enum dispatcher_reason reason,
                    int64_t instant) {
    if (cancel_state(self) == CANCEL_REQUESTED)
        return ECANCELED;
    if (__builtin_expect(self->signals.due, 0))
        return ERESTART;
    self->signals.place = SIGNAL_PLACE_WAIT;
    int result = wait_only(self, to, lends, reason, instant);
    self->signals.place = SIGNAL_PLACE_ELSEWHERE;
    if (__builtin_expect(!self->signals.interrupted, 1))
        return result;
    self->signals.interrupted = false;
    return result ? result : ERESTART;
}

int cancel_block_only(struct catapults_handle *self, enum dispatcher_reason reason, int64_t instant) {
    return cancel_state(self) == CANCEL_REQUESTED ? ECANCELED : wait_only(self, NULL, false, reason, instant);
}

int catapults_cancel(catapults_t thread) {
    dispatcher_enter();
    int error = thread->ended ? ESRCH : 0;
    if (error == 0)
        cancel_add(thread, CANCEL_REQUESTED);
    if (cancel_state(thread) == CANCEL_REQUESTED && thread->cancellable && dispatcher_is_blocked(&thread->dispatched)) {
        thread->cancelled = true;
        dispatcher_unblock(&thread->dispatched);
    }
    dispatcher_leave();
    return error;
}

void catapults_testcancel(void) {
    struct catapults_handle *self = handle_self();
    if (__builtin_expect(cancel_state(self) == CANCEL_REQUESTED, 0))
        catapults_exit(CATAPULTS_CANCELED);
    signals_check(self);
}

int catapults_setcancelstate(int state, int *before) {
    struct catapults_handle *self = handle_self();
    if (state != CATAPULTS_CANCEL_ENABLE && state != CATAPULTS_CANCEL_DISABLE)
        return EINVAL;
    dispatcher_enter();
    if (before)
        *before = cancel_state(self) & CANCEL_DISABLED ? CATAPULTS_CANCEL_DISABLE : CATAPULTS_CANCEL_ENABLE;
    if (state == CATAPULTS_CANCEL_DISABLE)
        cancel_add(self, CANCEL_DISABLED);
    else
        __atomic_fetch_and(&self->cancel, (uint8_t)~CANCEL_DISABLED, __ATOMIC_RELAXED);
    dispatcher_leave();
    return 0;
}

void catapults_cleanup_begin(struct catapults_cleanup *cleanup) {
    struct catapults_handle *self = handle_self();
    cleanup->pushed_before = self->cleanup;
    self->cleanup = cleanup;
}

void catapults_cleanup_end(struct catapults_cleanup *cleanup, int execute) {
    handle_self()->cleanup = cleanup->pushed_before;
    if (execute)
        cleanup->function(cleanup->argument);
}
