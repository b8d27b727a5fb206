/*
 * The handlers that the native runtime calls: the C face of native.framework, in its order. Generated code fills the
 * table.
 *
 * `self` is the policy's instance. Handlers of one instance never run at the same time. A handler that returns a stop
 * has changed nothing since the guard that failed. A null pointer in the table: the policy leaves an optional event to
 * the host.
 */
#ifndef CATAPULTS_NATIVE_POLICY_H
#define CATAPULTS_NATIVE_POLICY_H

#include <stdbool.h>

#include "catapults/policy.h"

#define CATAPULTS_NATIVE_ABI 2u

typedef const struct catapults_stop *native_event(void *self);
typedef const struct catapults_stop *native_thread_event(void *self, struct catapults_thread *t);

struct native_handlers {
    native_event *init;
    native_thread_event *newthread;
    /* The thread to run, or NULL: nothing was dispatched, or a guard failed and *stop says which. */
    struct catapults_thread *(*schedule)(void *self, const struct catapults_stop **stop);
    native_thread_event *switch_out;
    native_thread_event *block_io_read, *block_io_write, *block_io_accept, *block_io_connect, *block_io_file;
    native_thread_event *block_lock, *block_condition, *block_join, *block_sleep;
    native_thread_event *block_kernel, *block_scheduler, *block_port, *block_signal;
    native_thread_event *event_raised;
    native_thread_event *suspend_thread, *resume_thread;
    native_thread_event *set_next_thread;
    native_thread_event *tick;
    native_thread_event *exit;

    int64_t (*threads_ready)(const void *self);
    int64_t (*threads_suspended)(const void *self);
    int64_t (*threads_total)(const void *self);
    bool (*is_ready)(const void *self, const struct catapults_thread *t);
    bool (*can_switch_to)(const void *self, const struct catapults_thread *t);
};

#endif
