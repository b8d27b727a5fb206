/*
 * Fork. All that is torn down belongs to threads that no longer exist. What locks and ports know of them is forgotten
 * first, while their records and stacks are still as they left them.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "contexts/memory.h"
#include "dispatcher/trace.h"
#include "process/activations.h"
#include "process/driver.h"
#include "process/imports.h"
#include "process/kernel_threads.h"
#include "process/preempt.h"
#include "process/processor_time.h"
#include "process/report.h"
#include "process/runtime.h"
#include "process/scheduler_handle.h"
#include "process/signals.h"
#include "threads/end.h"
#include "threads/mutex.h"
#include "threads/port.h"
#include "threads/stand_in.h"
#include "threads/waiters.h"

static void restart(void);

pid_t catapults_fork(void) {
    dispatcher_enter();
    if (runtime.activations && !activations_before_fork()) {
        dispatcher_leave();
        errno = EAGAIN;
        return -1;
    }
    pid_t child = fork();
    if (runtime.activations)
        activations_after_fork(child == 0);
    if (child == 0)
        restart();
    dispatcher_leave();
    return child;
}

/* It must not be woken at anything that lasts. Robust mutexes find out that their owner is gone. */
static void forget(struct catapults_handle *thread) {
    stand_ins_forget(thread);
    if (thread->waiting)
        waiters_remove(thread->waiting, thread);
    if (thread->selects)
        io_forget_selection(thread->selects);
    thread->selects = NULL;
    port_forget(thread);
    thread->member.word = 0;
}

/* What the application has set for threads and schedulers stays, although the policies begin anew. `attributes`: the
 * caller's. */
static void keep_values(struct catapults_handle *self, struct catapults_attributes *attributes) {
    attributes->values = imports_values(&self->member.dispatched, &attributes->values_count);
    self->member.attributes = attributes;
    for (struct scheduler *one = dispatcher_root(); one; one = dispatcher_next_scheduler(one)) {
        if (!one->parent)
            continue;
        struct catapults_scheduler *scheduler = scheduler_handle(one);
        scheduler->kept = imports_values(&one->record, &scheduler->kept_count);
    }
}

static void free_values(const struct catapults_attributes *attributes) {
    memory_give((struct catapults_value *)attributes->values);
    for (struct scheduler *one = dispatcher_root(); one; one = dispatcher_next_scheduler(one)) {
        if (!one->parent)
            continue;
        struct catapults_scheduler *scheduler = scheduler_handle(one);
        memory_give(scheduler->kept);
        scheduler->kept = NULL;
        scheduler->kept_count = 0;
    }
}

static void restart(void) {
    runtime.forks++;
    processors_restart();
    struct catapults_handle *self = handle_self();
    dispatcher_trace_to(NULL); /* the parent writes there */
    struct dispatcher_thread *t, *next;
    for (t = dispatcher_first_thread(); t; t = dispatcher_next_thread(t))
        if (t != &self->member.dispatched)
            forget(handle_of(member_of(t)));
    for (t = dispatcher_first_thread(); t; t = dispatcher_next_thread(t))
        if (t != &self->member.dispatched)
            mutex_abandon_all(handle_of(member_of(t)));
    struct catapults_attributes kept = {0};
    keep_values(self, &kept);
    for (t = dispatcher_first_thread(); t; t = next) {
        next = dispatcher_next_thread(t);
        if (t == &self->member.dispatched)
            continue;
        /* A thread on another processor was in the middle of something, and the tools believe that it still is. */
        if (dispatcher_is_elsewhere(t))
            continue;
        struct catapults_handle *thread = handle_of(member_of(t));
        keys_forget(thread);
        stack_give(thread->member.stack);
    }
    self->joiner = NULL;
    self->suspended = false;
    signals_restart(&self->member);
    stand_ins_forget(self);
    preempt_restart();
    processor_time_restart();
    int error = io_restart();
    if (error) {
        runtime_report("a child of catapults_fork cannot wait for descriptors: %s", strerror(error));
        _exit(EXIT_FAILURE);
    }
    const struct catapults_stop *stop = dispatcher_restart();
    free_values(&kept);
    if (stop) {
        runtime_report("a child of catapults_fork is refused at line %" PRIu32 " of the policy: %s", stop->line,
                       stop->text);
        _exit(EXIT_FAILURE);
    }
}
