/*
 * Semaphores. A post that finds a waiter gives to it, and the value stays 0.
 */
#include <errno.h>

#include "process/runtime.h"
#include "threads/waiters.h"

static int try(catapults_sem_t *semaphore);

int catapults_sem_init(catapults_sem_t *semaphore, uint32_t value) {
    if (value > CATAPULTS_SEM_VALUE_MAX)
        return EINVAL;
    *semaphore = (catapults_sem_t)CATAPULTS_SEM_INITIALIZER(value);
    return 0;
}

int catapults_sem_destroy(catapults_sem_t *semaphore) {
    runtime_enter();
    bool busy = semaphore->waiters.first;
    runtime_leave();
    return busy ? EBUSY : 0;
}

int catapults_sem_wait(catapults_sem_t *semaphore) { return catapults_sem_wait_until(semaphore, CATAPULTS_FOREVER); }

int catapults_sem_wait_until(catapults_sem_t *semaphore, int64_t instant) {
    struct catapults_handle *self = handle_self();
    for (;;) {
        catapults_testcancel();
        dispatcher_enter();
        int result = try(semaphore);
        if (result)
            result = waiters_wait_or_cancel(&semaphore->waiters, self, BLOCK_CONDITION, instant);
        dispatcher_leave();
        if (result == ECANCELED)
            catapults_testcancel();
        if (__builtin_expect(result != ERESTART, 1)) {
            signals_check(&self->member);
            return result;
        }
        if (signals_run(&self->member) == SIGNALS_EINTR)
            return EINTR;
    }
}

int catapults_sem_trywait(catapults_sem_t *semaphore) {
    dispatcher_enter();
    int result = try(semaphore);
    dispatcher_leave();
    return result;
}

static int try(catapults_sem_t *semaphore) {
    if (!semaphore->value)
        return EAGAIN;
    semaphore->value--;
    return 0;
}

int catapults_sem_post(catapults_sem_t *semaphore) {
    dispatcher_enter();
    int result = 0;
    if (semaphore->waiters.first)
        waiters_serve(&semaphore->waiters);
    else if (semaphore->value == CATAPULTS_SEM_VALUE_MAX)
        result = EOVERFLOW;
    else
        semaphore->value++;
    dispatcher_leave();
    return result;
}

int catapults_sem_getvalue(const catapults_sem_t *semaphore, int *value) {
    dispatcher_enter();
    *value = (int)semaphore->value;
    dispatcher_leave();
    return 0;
}
