/*
 * The handlers that the shim calls: pth.framework in C, in its order. Generated code fills the table.
 *
 * `self` is the policy's instance. Handlers of one instance never run at the same time. A handler that returns a stop
 * has changed nothing since the guard that failed. A null pointer leaves an optional event to the host.
 */
#ifndef CATAPULTS_PTH_POLICY_H
#define CATAPULTS_PTH_POLICY_H

#include <stdbool.h>

#include "catapults/policy.h"

#define CATAPULTS_PTH_ABI 2u

typedef const struct catapults_stop *pth_event_handler(void *self);
typedef const struct catapults_stop *pth_thread_event_handler(void *self, struct catapults_thread *t);

struct pth_handlers {
    pth_event_handler *init;
    pth_thread_event_handler *newthread;
    /* The thread to run, or NULL: nothing was dispatched, or a guard failed and *stop says which. */
    struct catapults_thread *(*schedule)(void *self, const struct catapults_stop **stop);
    pth_thread_event_handler *switch_out;
    pth_thread_event_handler *block_io_read, *block_io_write, *block_io_select;
    pth_thread_event_handler *block_lock, *block_condition, *block_message, *block_signal;
    pth_thread_event_handler *block_join, *block_sleep, *block_function;
    pth_thread_event_handler *event_raised;
    pth_thread_event_handler *suspend_thread, *resume_thread;
    pth_thread_event_handler *set_next_thread;
    pth_thread_event_handler *signal;
    pth_thread_event_handler *changed;
    pth_thread_event_handler *exit, *cancel;

    int64_t (*threads_ready)(const void *self);
    int64_t (*threads_suspended)(const void *self);
    int64_t (*threads_total)(const void *self);
    bool (*is_ready)(const void *self, const struct catapults_thread *t);
    bool (*can_switch_to)(const void *self, const struct catapults_thread *t);
};

#endif
