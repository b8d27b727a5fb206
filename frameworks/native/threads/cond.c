/*
 * Condition variables. A thread that is signalled competes for the mutex like any other.
 */
#include <errno.h>

#include "threads/mutex.h"
#include "threads/waiters.h"

int catapults_cond_init(catapults_cond_t *cond) {
    *cond = (catapults_cond_t)CATAPULTS_COND_INITIALIZER;
    return 0;
}

int catapults_cond_destroy(catapults_cond_t *cond) { return cond->waiters.first ? EBUSY : 0; }

int catapults_cond_wait(catapults_cond_t *cond, catapults_mutex_t *mutex) {
    return catapults_cond_wait_until(cond, mutex, CATAPULTS_FOREVER);
}

int catapults_cond_wait_until(catapults_cond_t *cond, catapults_mutex_t *mutex, int64_t instant) {
    struct catapults_handle *self = handle_self();
    if (mutex_owner(mutex) != self)
        return EPERM;
    catapults_testcancel();
    dispatcher_enter();
    waiters_append(&cond->waiters, self);
    uint32_t depth = mutex_release(mutex, self);
    int result = 0;
    while (self->waiting) { /* else the unlock let another thread run, which has signalled */
        result = waiters_sleep_or_cancel(self, BLOCK_CONDITION, instant);
        if (__builtin_expect(result != ERESTART, 1))
            break;
        result = 0;
        signals_run_in_wait(self);
    }
    result = waiters_outcome(&cond->waiters, self, result);
    int relocked = mutex_relock(mutex, self, depth);
    dispatcher_leave();
    if (result == ECANCELED)
        catapults_testcancel();
    signals_check(self);
    return relocked ? relocked : result;
}

int catapults_cond_signal(catapults_cond_t *cond) {
    dispatcher_enter();
    if (cond->waiters.first)
        waiters_serve(&cond->waiters);
    dispatcher_leave();
    return 0;
}

int catapults_cond_broadcast(catapults_cond_t *cond) {
    dispatcher_enter();
    if (cond->waiters.first)
        waiters_serve_all(&cond->waiters);
    dispatcher_leave();
    return 0;
}
