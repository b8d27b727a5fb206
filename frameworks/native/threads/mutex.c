/*
 * Mutexes. Unlocking leaves the mutex free and makes the first waiter ready, so a thread that locks and unlocks in a
 * loop does not give up the processor each time (a convoy). A waiter that finds it taken again when it runs keeps its
 * place, and the next unlock hands the mutex to it: it is passed over at most once.
 */
#include <errno.h>

#include "threads/waiters.h"

static int wait(catapults_mutex_t *mutex, struct catapults_handle *self);

int catapults_mutex_lock(catapults_mutex_t *mutex) {
    struct catapults_handle *self = handle_self();
    if (mutex->owner)
        return mutex->owner == self ? EDEADLK : wait(mutex, self);
    mutex->owner = self;
    return 0;
}

int catapults_mutex_trylock(catapults_mutex_t *mutex) {
    if (mutex->owner)
        return EBUSY;
    mutex->owner = handle_self();
    return 0;
}

int catapults_mutex_unlock(catapults_mutex_t *mutex) {
    if (mutex->owner != handle_self())
        return EPERM;
    struct catapults_handle *first = mutex->waiters.first;
    mutex->owner = first && first->passed_over ? first : NULL;
    if (first && (mutex->owner || !first->woken)) {
        first->woken = true;
        waiters_wake(first);
    }
    return 0;
}

static int wait(catapults_mutex_t *mutex, struct catapults_handle *self) {
    self->wants = mutex;
    self->woken = false;
    self->passed_over = false;
    waiters_append(&mutex->waiters, self);
    for (;;) {
        waiters_sleep(self, BLOCK_LOCK, DISPATCHER_FOREVER);
        if (!mutex->owner || mutex->owner == self)
            break;
        self->passed_over = true;
    }
    waiters_remove(&mutex->waiters, self);
    mutex->owner = self;
    return 0;
}
