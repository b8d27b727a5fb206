/*
 * Condition variables. A thread that is signalled competes for the mutex like any other.
 */
#include <errno.h>

#include "threads/waiters.h"

int catapults_cond_wait(catapults_cond_t *cond, catapults_mutex_t *mutex) {
    return catapults_cond_wait_until(cond, mutex, CATAPULTS_FOREVER);
}

int catapults_cond_wait_until(catapults_cond_t *cond, catapults_mutex_t *mutex, int64_t instant) {
    struct catapults_handle *self = handle_self();
    if (mutex->owner != self)
        return EPERM;
    waiters_append(&cond->waiters, self);
    catapults_mutex_unlock(mutex);
    int result = 0;
    if (self->waiting) /* else the unlock let another thread run, which has signalled */
        result = waiters_sleep(self, BLOCK_CONDITION, instant);
    if (self->waiting)
        waiters_remove(&cond->waiters, self);
    else
        result = 0; /* signalled, if late */
    catapults_mutex_lock(mutex);
    return result;
}

int catapults_cond_signal(catapults_cond_t *cond) {
    struct catapults_handle *first = cond->waiters.first;
    if (first) {
        waiters_remove(&cond->waiters, first);
        waiters_wake(first);
    }
    return 0;
}

/* None of them runs before all have been signalled: what they do then, be it to wait again or to destroy the condition,
 * comes after the broadcast. */
int catapults_cond_broadcast(catapults_cond_t *cond) {
    struct catapults_handle *first;
    while ((first = cond->waiters.first)) {
        waiters_remove(&cond->waiters, first);
        if (waiters_may_wake(first))
            dispatcher_unblock_only(&first->dispatched);
    }
    dispatcher_unblocked();
    return 0;
}
