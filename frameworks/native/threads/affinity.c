/*
 * Which processors a thread may run on.
 */
#include <errno.h>

#include "threads/handle.h"

int catapults_setaffinity(catapults_t thread, uint64_t processors) {
    dispatcher_enter();
    int error = thread->ended ? ESRCH : dispatcher_bind(&thread->member.dispatched, processors);
    dispatcher_leave();
    if (!error && thread == catapults_self())
        catapults_yield();
    return error;
}

int catapults_getaffinity(catapults_t thread, uint64_t *processors) {
    dispatcher_enter();
    int error = thread->ended ? ESRCH : 0;
    if (!error)
        *processors = thread->member.dispatched.bound;
    dispatcher_leave();
    return error;
}
