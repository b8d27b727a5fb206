#include "threads/cancel.h"

#include <errno.h>

#include "process/signals.h"

int catapults_cancel(catapults_t thread) {
    dispatcher_enter();
    int error = thread->ended ? ESRCH : 0;
    if (error == 0)
        cancel_add(thread, CANCEL_REQUESTED);
    if (cancel_state(thread) == CANCEL_REQUESTED && thread->cancellable &&
        core_is_blocked(&thread->member.dispatched)) {
        thread->cancelled = true;
        dispatcher_unblock(&thread->member.dispatched);
    }
    dispatcher_leave();
    return error;
}

void cancel_now(void) { catapults_exit(CATAPULTS_CANCELED); }

void catapults_testcancel(void) { cancel_test(handle_self()); }

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
