/*
 * Jobs: what a thread with a period does in each.
 */
#include <errno.h>

#include "process/imports.h"
#include "process/runtime.h"
#include "threads/cancel.h"

/* Beyond every instant: CATAPULTS_FOREVER. */
static int64_t later(int64_t instant, int64_t nanoseconds) {
    int64_t sum;
    return __builtin_add_overflow(instant, nanoseconds, &sum) ? CATAPULTS_FOREVER : sum;
}

int catapults_set_period(int64_t nanoseconds) {
    if (nanoseconds < 0)
        return EINVAL;
    struct catapults_handle *self = handle_self();
    dispatcher_enter();
    self->member.period = nanoseconds;
    self->member.release = catapults_now();
    if (imports_link_job(&self->member, true))
        dispatcher_tell_changed(&self->member.dispatched);
    if (nanoseconds > 0)
        dispatcher_tell_released(&self->member.dispatched);
    dispatcher_unblocked();
    dispatcher_leave();
    signals_check(&self->member);
    return 0;
}

/* Waits until then; handlers of signals may run meanwhile. The policy has been told that the job begins, unless a
 * handler has kept the thread until then: true. */
static bool waits_until(struct catapults_handle *self, int64_t instant) {
    for (;;) {
        catapults_testcancel();
        dispatcher_enter();
        if (catapults_now() >= instant) {
            dispatcher_leave();
            return true;
        }
        self->member.dispatched.begins_job = true;
        int result = cancel_block(self, BLOCK_SLEEP, instant);
        self->member.dispatched.begins_job = false;
        dispatcher_leave();
        if (result == ECANCELED)
            catapults_testcancel();
        if (result != ERESTART)
            return false;
        signals_run(&self->member);
    }
}

int catapults_next_period(int64_t *missed) {
    struct catapults_handle *self = handle_self();
    catapults_testcancel();
    if (self->member.period == 0)
        return EINVAL;
    int64_t now = catapults_now(), release = later(self->member.release, self->member.period);
    if (missed)
        *missed = now > release ? (now - release - 1) / self->member.period + 1 : 0;
    self->member.release = release;
    if (release <= now || waits_until(self, release)) {
        dispatcher_enter();
        dispatcher_tell_released(&self->member.dispatched);
        dispatcher_unblocked();
        dispatcher_leave();
    }
    signals_check(&self->member);
    return 0;
}

int catapults_release(int64_t *instant) {
    const struct catapults_handle *self = handle_self();
    if (self->member.period == 0)
        return EINVAL;
    *instant = self->member.release;
    return 0;
}
