/*
 * The handlers that the native runtime calls: native.framework in C, in its order. Generated code fills the table.
 *
 * `self` is the policy's instance. Handlers of one instance never run at the same time. A handler that returns a stop
 * has changed nothing since the guard that failed. A null pointer leaves an optional event to the host.
 *
 * A policy with nodes (shared_size in catapults/policy.h) has an instance for each processor. `self` of arrival,
 * departure and dispatch is what the instances share. `self` of all others is the instance of the processor that the
 * thread, or the question, belongs to. All handlers of all instances are called under the runtime's one lock, so no two
 * of them ever run at the same time. A policy without nodes has null pointers for arrival, departure, dispatch, migrate
 * and steal, and one instance that all processors ask.
 */
#ifndef CATAPULTS_NATIVE_POLICY_H
#define CATAPULTS_NATIVE_POLICY_H

#include <stdbool.h>

#include "catapults/policy.h"

#define CATAPULTS_NATIVE_ABI 3u

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
    native_thread_event *release, *changed;
    native_thread_event *exit;

    int64_t (*threads_ready)(const void *self);
    int64_t (*threads_suspended)(const void *self);
    int64_t (*threads_total)(const void *self);
    bool (*is_ready)(const void *self, const struct catapults_thread *t);
    bool (*can_switch_to)(const void *self, const struct catapults_thread *t);

    /* A processor has come, with its properties set (catapults_policy.properties); the policy keeps it. */
    native_thread_event *arrival;
    /* A processor goes; the policy gives it up, and its `container` is then 0. No handler of its instance is called
     * afterwards. */
    native_thread_event *departure;
    /*
     * Optional. Places a thread in hand, which is adopted and has its imported variables linked. Afterwards it is in
     * the list at catapults_policy.sent, with the processor as its `parent`. There is a processor. In the instance of
     * that processor newthread follows if the thread is new, else migrate.
     */
    native_thread_event *dispatch;
    /* A thread in hand that was on another processor before. Does not fail. */
    native_thread_event *migrate;
    /*
     * Optional. `t` is a processor that has nothing to do, not this instance's own; some thread is READY here.
     * Afterwards those that it can have, if any, are in the list at catapults_policy.sent, with that processor as their
     * `parent`. Then migrate follows for each: there, or here if the thread may not run there.
     */
    native_thread_event *steal;
};

#endif
