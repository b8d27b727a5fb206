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
    waiters_append(&cond->waiters, self);
    uint32_t depth = mutex_release(mutex);
    int result = 0;
    if (self->waiting) /* else the unlock let another thread run, which has signalled */
        result = waiters_sleep(self, BLOCK_CONDITION, instant);
    if (self->waiting)
        waiters_remove(&cond->waiters, self);
    else
        result = 0; /* signalled, if late */
    int relocked = mutex_relock(mutex, depth);
    return relocked ? relocked : result;
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
