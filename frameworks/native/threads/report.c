/*
 * What the runtime says when a policy had to go, or when no thread can ever run again.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "threads/mutex.h"
#include "dispatcher/scheduler.h"
#include "threads/runtime.h"

static const char *file_name(const char *path) {
    const char *name = path;
    for (; *path; path++)
        if (*path == '/')
            name = path + 1;
    return name;
}

void report_contained(const struct dispatcher_failure *failure) {
    const struct catapults_policy *policy = failure->policy;
    const struct catapults_stop *stop = failure->stop;
    static char what[512];
    if (!stop)
        snprintf(what, sizeof what, "rule of %s broken in `%s`: %s", policy->framework, failure->event, failure->text);
    else if (stop->why == CATAPULTS_STOP_FAIL)
        snprintf(what, sizeof what, "`fail` at %s:%" PRIu32 " in `%s`, which may not fail: %s",
                 file_name(policy->source), stop->line, failure->event, stop->text);
    else
        snprintf(what, sizeof what, "guard failed at %s:%" PRIu32 ": %s", file_name(policy->source), stop->line,
                 stop->text);
    const char *name = failure->scheduler->name;
    runtime_report("policy %s%s%s: %s; %" PRId64 " thread%s under the built-in FIFO", policy->name,
                   name ? " of the scheduler " : "", name ? name : "", what, failure->threads,
                   failure->threads == 1 ? " continues" : "s continue");
}

static void report_wait(const struct catapults_handle *thread);

void report_deadlock(void) {
    runtime_report("deadlock: every thread waits, and nothing is under way that could wake one");
    for (struct dispatcher_thread *t = dispatcher_first_thread(); t; t = dispatcher_next_thread(t))
        report_wait(handle_of(t));
    fflush(NULL);
    _Exit(EXIT_FAILURE);
}

static void report_port(const struct catapults_handle *thread) {
    const struct catapults_message *message = thread->message;
    const catapults_port_t *port = thread->port;
    const char *what = !port           ? "for a reply to its message"
                       : !message      ? "for a message"
                       : message->port ? "for somebody to receive its message"
                                       : "for room for its message";
    runtime_report("thread %" PRIu32 " (%s) waits %s%s%s", thread->dispatched.policy.number, thread->name, what,
                   port ? " at port " : "", port ? (port->name ? port->name : "without a name") : "");
}

static void report_wait(const struct catapults_handle *thread) {
    static const char *const waits[] = {"to read",         "to write",        "for a connection to accept",
                                        "to connect",      "for a file",      "for a mutex",
                                        "for a condition", "for the end of",  "for an instant",
                                        "in the kernel",   "for its threads", "for a message",
                                        "for a signal"};
    const struct dispatcher_thread *t = &thread->dispatched;
    bool suspended = t->state == THREAD_SUSPENDED;
    const struct catapults_handle *other = NULL;
    if (!suspended && t->reason == BLOCK_JOIN)
        other = thread->joins;
    else if (!suspended && t->reason == BLOCK_LOCK)
        other = thread->wants ? mutex_owner(thread->wants) : NULL;
    static char whose[64];
    whose[0] = '\0';
    if (other)
        snprintf(whose, sizeof whose, "%s thread %" PRIu32 " (%s)", t->reason == BLOCK_LOCK ? " of" : "",
                 other->dispatched.policy.number, other->name);
    if (!suspended && t->reason == BLOCK_PORT) {
        report_port(thread);
        return;
    }
    const char *what = suspended                                   ? "to be resumed"
                       : t->reason == BLOCK_LOCK && !thread->wants ? "for a read-write lock"
                                                                   : waits[t->reason];
    runtime_report("thread %" PRIu32 " (%s) waits %s%s", t->policy.number, thread->name, what, whose);
}
