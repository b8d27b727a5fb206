/*
 * What policies read of a thread, as the application says it.
 */
#include <errno.h>

#include "process/imports.h"
#include "threads/handle.h"

void catapults_set_object(catapults_t thread, void *object) {
    dispatcher_enter();
    thread->member.object = object;
    imports_link(&thread->member);
    if (!thread->ended && scheduler_handle(thread->member.dispatched.scheduler)->linked) {
        dispatcher_tell_changed(&thread->member.dispatched);
        dispatcher_unblocked();
    }
    dispatcher_leave();
}

int catapults_set_values(catapults_t thread, const struct catapults_value *values, size_t count) {
    dispatcher_enter();
    const struct catapults_scheduler *scheduler = scheduler_handle(thread->member.dispatched.scheduler);
    int error = thread->ended ? ESRCH : imports_check_values(scheduler, values, count);
    if (error == 0 && imports_set_values(&thread->member, values, count)) {
        dispatcher_tell_changed(&thread->member.dispatched);
        dispatcher_unblocked();
    }
    dispatcher_leave();
    return error;
}

int catapults_changed(catapults_t thread) {
    dispatcher_enter();
    int error = thread->ended ? ESRCH : 0;
    if (error == 0) {
        dispatcher_tell_changed(&thread->member.dispatched);
        dispatcher_unblocked();
    }
    dispatcher_leave();
    return error;
}
