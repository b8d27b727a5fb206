/*
 * What the runtime says on standard error: single lines, why a policy is out, and what waits if no thread can ever run
 * again.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "catapults/place.h"
#include "contexts/system.h"
#include "contexts/text.h"
#include "core/scheduler.h"
#include "process/face.h"
#include "process/report.h"
#include "process/runtime.h"

void runtime_report(const char *format, ...) {
    static const char program[] = "catapults: ";
    char *line = here()->process.report;
    const size_t start = sizeof program - 1, room = sizeof here()->process.report - start;
    __builtin_memcpy(line, program, start);
    va_list arguments;
    va_start(arguments, format);
    size_t length = text_format_list(line + start, room, format, arguments);
    va_end(arguments);
    size_t end = start + (length < room ? length : room - 1);
    line[end++] = '\n';
    report_text(line, end);
}

void report_text(const char *text, size_t length) {
    enum { STANDARD_ERROR = 2 };
    if (system_write(STANDARD_ERROR, text, length) < 0)
        return;
}

void report_contained(const struct dispatcher_failure *failure) {
    const struct catapults_policy *policy = failure->policy;
    const struct catapults_stop *stop = failure->stop;
    static char what[512], text[128];
    const char *place = catapults_place_of(policy, failure->event, text, sizeof text);
    if (failure->starved)
        text_format(what, sizeof what,
                    "in %s thread %" PRIu32 " (%s) was ready for longer than %" PRId64 " ms, "
                    "and only others were dispatched",
                    place, failure->starved->policy.number,
                    member_of((struct dispatcher_thread *)failure->starved)->name, runtime.starvation_limit / 1000000);
    else if (failure->overran)
        text_format(what, sizeof what, "the handler of `%s` in %s ran for longer than %" PRId64 " ms, and was left",
                    failure->event, place, runtime.handler_limit / 1000000);
    else if (!stop)
        text_format(what, sizeof what, "rule of %s broken in `%s` at %s: %s", policy->framework, failure->event, place,
                    failure->text);
    else if (stop->why == CATAPULTS_STOP_FAIL)
        text_format(what, sizeof what, "`fail` at %s:%" PRIu32 " in `%s`, which may not fail: %s",
                    catapults_file_name(policy), stop->line, failure->event, stop->text);
    else
        text_format(what, sizeof what, "guard failed at %s:%" PRIu32 ": %s", catapults_file_name(policy), stop->line,
                    stop->text);
    const char *name = failure->scheduler->name;
    runtime_report("policy %s%s%s: %s; %" PRId64 " thread%s under the built-in FIFO", policy->name,
                   name ? " of the scheduler " : "", name ? name : "", what, failure->threads,
                   failure->threads == 1 ? " continues" : "s continue");
}

void report_inconsistent(const char *what) {
    runtime_report("the dispatcher's books do not agree; please report this: not so: %s", what);
}

static void report_rings(void);

void report_deadlock(void) {
    runtime_report("deadlock: every thread waits, and nothing is under way that could wake one");
    for (struct dispatcher_thread *t = dispatcher_first_thread(); t; t = dispatcher_next_thread(t))
        runtime_report("thread %" PRIu32 " (%s) waits %s", t->policy.number, member_of(t)->name,
                       runtime.face->describe_wait(member_of(t)));
    report_rings();
    fflush(NULL); /* what cannot be written is lost, and the program ends with a failure all the same */
    system_exit_group(EXIT_FAILURE);
}

/* "thread 1 (main) waits for a mutex of thread 2 (worker); thread 2 (worker) waits ...", from `first` to the one before
 * `last`; if there is no room for some, how many these are. The next text overwrites it. */
static const char *chain_from(const struct member *first, const struct member *last) {
    enum { OTHERS = sizeof "; and 4294967295 more threads in turn" };
    static char text[640];
    size_t length = 0;
    unsigned others = 0;
    const struct member *thread = first;
    do {
        size_t room = sizeof text - OTHERS - length;
        size_t size = text_format(text + length, room, "%sthread %" PRIu32 " (%s) waits %s", length ? "; " : "",
                                  thread->dispatched.policy.number, thread->name, runtime.face->describe_wait(thread));
        if (others == 0 && size < room)
            length += size;
        else
            others++;
        thread = member_waited_for(thread);
    } while (thread && thread != last);
    text_format(text + length, sizeof text - length, "; and %u more thread%s in turn", others, others == 1 ? "" : "s");
    if (others == 0)
        text[length] = 0;
    return text;
}

void report_cycle(const struct member *thread) {
    const struct member *self = member_self();
    if (thread == self)
        runtime_report("deadlock: thread %" PRIu32 " (%s) waits for a mutex that it has",
                       self->dispatched.policy.number, self->name);
    else
        runtime_report("deadlock: thread %" PRIu32 " (%s) waits for a mutex of thread %" PRIu32 " (%s); %s",
                       self->dispatched.policy.number, self->name, thread->dispatched.policy.number, thread->name,
                       chain_from(thread, self));
}

/* Reports each ring of threads of which every one waits for the next, beginning with the lowest number. */
static void report_rings(void) {
    for (struct dispatcher_thread *t = dispatcher_first_thread(); t; t = dispatcher_next_thread(t)) {
        const struct member *first = member_of(t), *thread = member_waited_for(first), *mark = NULL;
        bool lowest = true;
        for (unsigned steps = 1; thread && thread != first && thread != mark; steps++) {
            lowest &= thread->dispatched.policy.number > t->policy.number;
            if ((steps & (steps - 1)) == 0)
                mark = thread;
            thread = member_waited_for(thread);
        }
        if (thread == first && lowest)
            runtime_report("ring: %s", chain_from(first, first));
    }
}
