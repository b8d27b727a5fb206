/*
 * CATAPULTS_TRACE=file: who ran when, and why, as catapults/trace.h says; read by `catapults trace`. It ends when the
 * policy is out.
 */
#include "catapults/trace_mapped.h"
#include "catapults/trace_policy.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "shim/shim.h"

/* What becomes of a thread by an event. Reasons are those of docs/traces.md. */
struct told {
    const char *event;
    size_t handler;
    uint8_t kind, reason;
};
#define TOLD(event, handler, kind, reason) {event, offsetof(struct pth_handlers, handler), kind, reason}
static const struct told told[] = {
    TOLD("newthread", newthread, TRACE_NEW, 0),
    TOLD("schedule", schedule, TRACE_DISPATCHED, 0),
    TOLD("switch_out", switch_out, TRACE_SWITCHED_OUT, 0),
    TOLD("block.io.read", block_io_read, TRACE_BLOCKED, 0),
    TOLD("block.io.write", block_io_write, TRACE_BLOCKED, 1),
    TOLD("block.io.select", block_io_select, TRACE_BLOCKED, TRACE_AS_THE_EVENT_SAYS),
    TOLD("block.lock", block_lock, TRACE_BLOCKED, 5),
    TOLD("block.condition", block_condition, TRACE_BLOCKED, 6),
    TOLD("block.message", block_message, TRACE_BLOCKED, TRACE_AS_THE_EVENT_SAYS),
    TOLD("block.signal", block_signal, TRACE_BLOCKED, 12),
    TOLD("block.join", block_join, TRACE_BLOCKED, 7),
    TOLD("block.sleep", block_sleep, TRACE_BLOCKED, 8),
    TOLD("block.function", block_function, TRACE_BLOCKED, TRACE_AS_THE_EVENT_SAYS),
    TOLD("event_raised", event_raised, TRACE_RAISED, 0),
    TOLD("suspend_thread", suspend_thread, TRACE_SUSPENDED, 0),
    TOLD("resume_thread", resume_thread, TRACE_RESUMED, 0),
    TOLD("exit", exit, TRACE_EXITED, 0),
    TOLD("cancel", cancel, TRACE_EXITED, 0),
};
enum { EVENTS = sizeof told / sizeof *told };

static struct trace_file *file;
static size_t file_size;
static pid_t recorder; /* the process that records */
static uint16_t names; /* the first of the policy's; 0: they are not there */
static struct trace_values values;

/* Where the event of a handler is in `told`; EVENTS: no thread comes to run or to wait by it. */
static unsigned told_by(size_t handler) {
    unsigned event = 0;
    while (event < EVENTS && told[event].handler != handler)
        event++;
    return event;
}

static struct trace_record *append(enum trace_kind kind, const struct record *record, uint8_t detail, uint16_t event,
                                   uint16_t ready) {
    const struct trace_record *end = trace_follows(file, kind, 0);
    return trace_append(file, end ? end->time : (uint64_t)clock_now(), kind, record ? record->policy.number : 0, detail,
                        0, event, ready);
}

/* By a handler that has just returned. */
static void append_decided(enum trace_kind kind, const struct record *record, uint8_t detail, uint16_t event,
                           uint16_t ready) {
    append(kind, record, detail, event, ready)->line = trace_line_that_decided(shim.policy);
}

/* Who is READY to the policy: Pth's book says so. */
static uint16_t count_ready(void) {
    int count = library.ready->q_num + library.new->q_num;
    return count < TRACE_NOT_KNOWN ? (uint16_t)count : TRACE_NOT_KNOWN;
}

static uint16_t name_of(unsigned event) { return names ? (uint16_t)(names + event) : 0; }

void recording_start(void) {
    recording_stop();
    const char *name = environment("CATAPULTS_TRACE");
    if (!name || !*name)
        return;
    Dl_info policy; /* its file, which PTH_SCHED may name without its ending */
    if (dladdr(shim.policy, &policy) && trace_is_policy(name, policy.dli_fname)) {
        report("cannot record a trace in %s: it is the policy; name another file", name);
        exit(EXIT_FAILURE);
    }
    struct trace_mapping mapping = trace_map(name);
    if (!mapping.file) {
        report("cannot record a trace in %s: %s%s", name, strerror(mapping.error),
               mapping.opened ? "" : "; name a file that can be written");
        exit(EXIT_FAILURE);
    }
    file = mapping.file;
    file->start = (uint64_t)clock_now();
    file->seed = shim.seed;
    file_size = mapping.size;
    recorder = getpid();
    values = (struct trace_values){0};
    trace_add_name(file, 0, shim.policy->name, "");
    trace_add_name(file, 0, shim.policy->source, "");
    trace_add_name(file, 0, "pth", "");
    trace_add_name(file, 0, "CLOCK_MONOTONIC", "");
    const char *events[EVENTS];
    for (unsigned i = 0; i < EVENTS; i++)
        events[i] = told[i].event;
    names = trace_add_policy(file, shim.policy, events, EVENTS);
}

void recording_stop(void) {
    if (file)
        munmap(file, file_size); /* the process ends, or keeps addresses that nobody looks at */
    file = NULL;
}

void recording_leave(void) {
    if (file && getpid() != recorder)
        recording_stop();
}

bool recording(void) { return file; }

void recording_new(const struct record *record) {
    append_decided(TRACE_NEW, record, 0, name_of(told_by(offsetof(struct pth_handlers, newthread))), TRACE_NOT_KNOWN);
    char name[sizeof record->thread->name + 1] = "";
    memcpy(name, record->thread->name, sizeof record->thread->name);
    trace_append_thread_name(file, (uint64_t)clock_now(), record->policy.number, 0, name);
}

void recording_refused(const struct record *record) {
    append(TRACE_REFUSED, record, 0, name_of(told_by(offsetof(struct pth_handlers, newthread))), TRACE_NOT_KNOWN);
}

void recording_raised(size_t handler, const struct record *record) {
    unsigned event = told_by(handler);
    if (event == EVENTS)
        return;
    enum trace_kind kind = told[event].kind;
    append_decided(kind, record, told[event].reason, name_of(event),
                   kind == TRACE_BLOCKED ? count_ready() : TRACE_NOT_KNOWN);
    bool ran = kind == TRACE_BLOCKED || (kind == TRACE_EXITED && record == shim.running);
    if (ran && count_ready() == 0)
        append(TRACE_IDLE, NULL, 0, 0, 0);
}

void recording_preempted(const struct record *record) {
    append_decided(TRACE_PREEMPTED, record, 0, 0, TRACE_NOT_KNOWN);
}

static void look(const char *base, const struct catapults_import *imports, uint32_t count, const struct record *record,
                 uint16_t first) {
    for (uint32_t i = 0; i < count; i++) {
        uint16_t variable = (uint16_t)(first + i);
        uint64_t value;
        if (trace_value_changed(&values, record ? record->policy.number : 0, variable, &imports[i], base, &value))
            append(TRACE_VALUE, record, (uint8_t)imports[i].type, variable, 0)->value = value;
    }
}

void recording_dispatched(const struct record *record) {
    const struct catapults_policy *policy = shim.policy;
    if (names) {
        look(shim.instance, policy->imports, policy->imports_count, NULL, (uint16_t)(names + EVENTS));
        look((const char *)&record->policy, policy->thread_imports, policy->thread_imports_count, record,
             (uint16_t)(names + EVENTS + policy->imports_count));
    }
    uint16_t ready = count_ready(); /* itself, too */
    append_decided(TRACE_DISPATCHED, record, 0, name_of(told_by(offsetof(struct pth_handlers, schedule))),
                   ready > 0 && ready < TRACE_NOT_KNOWN ? (uint16_t)(ready - 1) : TRACE_NOT_KNOWN);
}

void recording_policy_out(const struct catapults_stop *stop) {
    append(TRACE_POLICY_OUT, NULL, 0, 0, TRACE_NOT_KNOWN)->line = stop ? stop->line : 0;
    recording_stop();
}
