/*
 * Condition variables. A thread that is signalled competes for the mutex like any other.
 */
#include <errno.h>

#include "process/runtime.h"
#include "threads/mutex.h"
#include "threads/waiters.h"

int catapults_cond_init(catapults_cond_t *cond) {
    *cond = (catapults_cond_t)CATAPULTS_COND_INITIALIZER;
    return 0;
}

int catapults_cond_destroy(catapults_cond_t *cond) {
    runtime_enter();
    bool busy = cond->waiters.first;
    runtime_leave();
    return busy ? EBUSY : 0;
}

static int sleep_or_lend(catapults_cond_t *cond, struct catapults_handle *self, int64_t instant);

int catapults_cond_wait(catapults_cond_t *cond, catapults_mutex_t *mutex) {
    return catapults_cond_wait_until(cond, mutex, CATAPULTS_FOREVER);
}

int catapults_cond_wait_until(catapults_cond_t *cond, catapults_mutex_t *mutex, int64_t instant) {
    struct catapults_handle *self = handle_self();
    if (mutex_owner(mutex) != &self->member)
        return EPERM;
    cancel_test(self);
    dispatcher_enter();
    waiters_append(&cond->waiters, self);
    uint32_t depth = mutex_give_up(mutex, self);
    int result = 0;
    while (self->waiting && !result) { /* else the unlock let another thread run, which has signalled */
        result = sleep_or_lend(cond, self, instant);
        if (__builtin_expect(result == ERESTART, 0)) {
            result = 0;
            waiters_run_handlers(self);
        }
    }
    result = waiters_outcome(&cond->waiters, self, result);
    int relocked = mutex_get_back(mutex, self, depth);
    dispatcher_leave();
    if (__builtin_expect(result == ECANCELED, 0))
        cancel_test(self);
    signals_check(&self->member);
    return relocked ? relocked : result;
}

/* May return although it has not been served. */
static int sleep_or_lend(catapults_cond_t *cond, struct catapults_handle *self, int64_t instant) {
    if (__builtin_expect(!member_is_named(cond->owner), 1))
        return waiters_sleep_or_cancel(self, BLOCK_CONDITION, instant);
    bool lends = dispatcher_cycle(&cond->owner) == CYCLE_NONE;
    self->asleep = true;
    int result = cancel_wait_for(self, &cond->owner, lends, BLOCK_CONDITION, instant);
    self->asleep = false;
    return result;
}

void catapults_cond_set_owner(catapults_cond_t *cond, catapults_t thread) {
    dispatcher_enter();
    cond->owner = thread ? thread->member.word : 0;
    for (struct catapults_handle *waiter = cond->waiters.first; waiter; waiter = waiter->wait_next) {
        if (!waiters_may_wake(waiter))
            continue;
        if (cond->owner)
            dispatcher_redirected(&waiter->member.dispatched, &cond->owner);
        else
            dispatcher_unblock_only(&waiter->member.dispatched); /* it waits again, without an owner */
    }
    dispatcher_unblocked();
    dispatcher_leave();
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
