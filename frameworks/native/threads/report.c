/*
 * What the runtime says when a policy had to go, or when no thread can ever run again.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

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
    runtime.imports.contained = true;
    char what[512];
    if (!stop)
        snprintf(what, sizeof what, "rule of %s broken in `%s`: %s", policy->framework, failure->event, failure->text);
    else if (stop->why == CATAPULTS_STOP_FAIL)
        snprintf(what, sizeof what, "`fail` at %s:%" PRIu32 " in `%s`, which may not fail: %s",
                 file_name(policy->source), stop->line, failure->event, stop->text);
    else
        snprintf(what, sizeof what, "guard failed at %s:%" PRIu32 ": %s", file_name(policy->source), stop->line,
                 stop->text);
    runtime_report("policy %s: %s; %" PRId64 " threads continue under the built-in FIFO", policy->name, what,
                   failure->threads);
}

static const char *state_of(const struct catapults_handle *thread) {
    static const char *const reasons[] = {
        "to read",     "to write",        "for a connection to accept", "to connect",    "for a file",
        "for a mutex", "for a condition", "for the end of a thread",    "for an instant"};
    switch ((enum dispatcher_state)thread->dispatched.state) {
    case THREAD_BLOCKED:
        return reasons[thread->dispatched.reason];
    case THREAD_SUSPENDED:
        return "to be resumed";
    case THREAD_RUNNABLE:
    case THREAD_ENDED:
        break;
    }
    return "for nothing";
}

void report_deadlock(void) {
    runtime_report("deadlock: every thread waits, and nothing is under way that could wake one");
    for (struct dispatcher_thread *t = dispatcher_first_thread(); t; t = dispatcher_next_thread(t)) {
        const struct catapults_handle *thread = handle_of(t);
        fprintf(stderr, "  thread %" PRIu32 " (%s) waits %s\n", t->policy.number, thread->name, state_of(thread));
    }
    fflush(NULL);
    _Exit(EXIT_FAILURE);
}
