/*
 * What the policies of this folder that are written by hand have in common: a list of ready threads, and the tables
 * that say so.
 */
#include "catapults/list.h"
#include "native_policy.h"
#include "../support/places.h"

static bool is_ready(const void *self, const struct catapults_thread *t) {
    (void)self;
    return t->container == IN_READY;
}

/* The members of the table of handlers: of all events after which a thread waits, of those after which it is ready
 * again, and of all queries, of which those for numbers have one answer. */
#define WAITING(handler)                                                                                               \
    .block_io_read = handler, .block_io_write = handler, .block_io_accept = handler, .block_io_connect = handler,      \
    .block_io_file = handler, .block_lock = handler, .block_condition = handler, .block_join = handler,                \
    .block_sleep = handler, .block_kernel = handler, .block_scheduler = handler, .block_port = handler,                \
    .block_signal = handler, .suspend_thread = handler
#define WAKING(handler) .event_raised = handler, .resume_thread = handler
#define QUERIES(number)                                                                                                \
    .threads_ready = number, .threads_suspended = number, .threads_total = number, .is_ready = is_ready,               \
    .can_switch_to = is_ready
