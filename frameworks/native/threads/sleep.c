/*
 * Sleeping.
 */
#include <errno.h>

#include "catapults.h"
#include "process/signals.h"
#include "threads/cancel.h"

int catapults_sleep_until(int64_t instant) {
    struct catapults_handle *self = handle_self();
    for (;;) {
        catapults_testcancel();
        dispatcher_enter();
        int result = cancel_block(self, BLOCK_SLEEP, instant);
        dispatcher_leave();
        if (result == ECANCELED)
            catapults_testcancel();
        if (result != ERESTART) {
            signals_check(&self->member);
            return 0;
        }
        if (signals_run(&self->member) != SIGNALS_NONE)
            return EINTR;
    }
}

int catapults_sleep(int64_t nanoseconds) {
    int64_t instant;
    if (__builtin_add_overflow(catapults_now(), nanoseconds, &instant))
        instant = CATAPULTS_FOREVER;
    return catapults_sleep_until(instant);
}
