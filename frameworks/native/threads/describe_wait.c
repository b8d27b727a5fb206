/*
 * What a thread waits for, in words: for reports of deadlocks.
 */
#include "threads/describe_wait.h"

#include <inttypes.h>

#include "contexts/text.h"
#include "threads/handle.h"

static void describe_port(const struct member *thread, char *text, size_t size) {
    const struct catapults_handle *handle = handle_of((struct member *)thread);
    const struct catapults_message *message = handle->message;
    const catapults_port_t *port = handle->port;
    const struct member *server = member_waited_for(thread);
    const char *what = !port           ? "for a reply to its message"
                       : !message      ? "for a message"
                       : message->port ? "for somebody to receive its message"
                                       : "for room for its message";
    if (server)
        text_format(text, size, "for a reply of thread %" PRIu32 " (%s)", server->dispatched.policy.number,
                    server->name);
    else
        text_format(text, size, "%s%s%s", what, port ? " at port " : "",
                    port ? (port->name ? port->name : "without a name") : "");
}

const char *describe_wait(const struct member *thread) {
    static const char *const waits[] = {"to read",         "to write",        "for a connection to accept",
                                        "to connect",      "for a file",      "for a mutex",
                                        "for a condition", "for the end of",  "for an instant",
                                        "in the kernel",   "for its threads", "for a message",
                                        "for a signal"};
    static char text[128];
    const struct dispatcher_thread *t = &thread->dispatched;
    if (t->state == THREAD_SUSPENDED)
        return "to be resumed";
    const struct catapults_handle *handle = handle_of((struct member *)thread);
    const struct member *other = member_waited_for(thread);
    if (t->reason == BLOCK_LOCK && !handle->wants && !other)
        return "for a read-write lock";
    if (t->reason == BLOCK_PORT)
        describe_port(thread, text, sizeof text);
    else if (other)
        text_format(text, sizeof text, "%s%s thread %" PRIu32 " (%s)",
                    t->reason == BLOCK_LOCK && !handle->wants ? "for a read-write lock" : waits[t->reason],
                    t->reason == BLOCK_JOIN ? "" : " of", other->dispatched.policy.number, other->name);
    else if (t->reason == BLOCK_LOCK)
        return "for a mutex whose owner has ended";
    else if (t->reason == BLOCK_CONDITION)
        return "for a condition, a semaphore, a barrier or catapults_once";
    else
        return waits[t->reason];
    return text;
}
