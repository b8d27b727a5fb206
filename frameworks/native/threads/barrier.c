/*
 * Barriers.
 */
#include <errno.h>

#include "process/runtime.h"
#include "threads/waiters.h"

/* Threads that waited before the fork that made this process are not here. */
static void forget_others(catapults_barrier_t *barrier) {
    if (barrier->process != runtime.forks)
        barrier->arrived = 0;
    barrier->process = runtime.forks;
}

int catapults_barrier_init(catapults_barrier_t *barrier, uint32_t count) {
    if (count == 0)
        return EINVAL;
    *barrier = (catapults_barrier_t){.count = count, .process = runtime.forks};
    return 0;
}

int catapults_barrier_destroy(catapults_barrier_t *barrier) {
    runtime_enter();
    forget_others(barrier);
    bool busy = barrier->arrived;
    runtime_leave();
    return busy ? EBUSY : 0;
}

int catapults_barrier_wait(catapults_barrier_t *barrier) {
    dispatcher_enter();
    forget_others(barrier);
    int result = CATAPULTS_BARRIER_SERIAL_THREAD;
    if (++barrier->arrived < barrier->count) {
        result = waiters_wait(&barrier->waiters, handle_self(), BLOCK_CONDITION, CATAPULTS_FOREVER);
    } else {
        barrier->arrived = 0;
        waiters_serve_all(&barrier->waiters); /* one of them may destroy it at once */
    }
    dispatcher_leave();
    return result;
}
