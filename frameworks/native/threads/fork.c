/*
 * Fork. All that is torn down belongs to threads that are not there any more; what they had on their stacks is not
 * looked at.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dispatcher/trace.h"
#include "io/io.h"
#include "threads/end.h"
#include "threads/runtime.h"
#include "threads/signals.h"

static void restart(void);

pid_t catapults_fork(void) {
    dispatcher_enter();
    pid_t child = fork();
    if (child == 0)
        restart();
    dispatcher_leave();
    return child;
}

static void restart(void) {
    struct catapults_handle *self = handle_self();
    dispatcher_trace = NULL; /* the parent writes there */
    struct dispatcher_thread *next;
    for (struct dispatcher_thread *thread = dispatcher_first_thread(); thread; thread = next) {
        next = dispatcher_next_thread(thread);
        struct catapults_handle *handle = handle_of(thread);
        if (handle == self)
            continue;
        keys_forget(handle);
        handle->word = 0;
        stack_give(handle->stack);
    }
    self->joiner = NULL;
    signals_restart(self);
    preempt_restart();
    watch_restart();
    int error = io_restart();
    if (error) {
        runtime_report("a child of catapults_fork cannot wait for descriptors: %s", strerror(error));
        _exit(EXIT_FAILURE);
    }
    const struct catapults_stop *stop = dispatcher_restart();
    if (stop) {
        runtime_report("a child of catapults_fork is refused at line %" PRIu32 " of the policy: %s", stop->line,
                       stop->text);
        _exit(EXIT_FAILURE);
    }
}
