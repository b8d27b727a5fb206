#include "dispatcher/trace.h"

#include "catapults/trace_policy.h"
#include "dispatcher/instance.h"

struct trace_file *dispatcher_trace;

static void came_to(enum trace_kind kind, const struct dispatcher_thread *thread, uint8_t detail);
static void policy_out(uint32_t line);

void dispatcher_trace_to(struct trace_file *file) {
    static const struct recorder recorder = {.came_to = came_to,
                                             .dispatched = dispatcher_record_dispatch,
                                             .named = dispatcher_record_name,
                                             .policy_in_force = dispatcher_trace_names,
                                             .policy_out = policy_out};
    dispatcher_trace = file;
    dispatcher.recorder = file ? &recorder : NULL;
    dispatcher_find_shortcut();
}

/* ---- Names ------------------------------------------------------------------------------------------------------- */

/* The names of a scheduler's policy stand together: its events in this order, then its variables. */
enum {
    NAME_NEWTHREAD,
    NAME_SCHEDULE,
    NAME_SWITCH_OUT,
    NAME_EVENT_RAISED,
    NAME_EXIT,
    NAME_SUSPEND,
    NAME_RESUME,
    NAME_BLOCK /* in the order of enum dispatcher_reason */
};
static const char *const event_names[] = {"newthread",      "schedule",        "switch_out",       "event_raised",
                                          "exit",           "suspend_thread",  "resume_thread",    "block.io.read",
                                          "block.io.write", "block.io.accept", "block.io.connect", "block.io.file",
                                          "block.lock",     "block.condition", "block.join",       "block.sleep",
                                          "block.kernel",   "block.scheduler", "block.port",       "block.signal"};
enum { EVENTS = sizeof event_names / sizeof *event_names };
_Static_assert(EVENTS == NAME_BLOCK + BLOCK_SIGNAL + 1, "an event for each reason");

void dispatcher_trace_begin(const char *hierarchy, const char *source, const struct catapults_policy *policy,
                            uint64_t seed) {
    if (!policy)
        policy = &dispatcher_builtin;
    dispatcher_trace->seed = seed;
    trace_add_name(dispatcher_trace, 0, hierarchy ? hierarchy : policy->name, "");
    trace_add_name(dispatcher_trace, 0, hierarchy ? source : policy->source, "");
    trace_add_name(dispatcher_trace, 0, "native", "");
    trace_add_name(dispatcher_trace, 0, "CLOCK_MONOTONIC", "");
}

void dispatcher_trace_names(struct scheduler *scheduler) {
    scheduler->traced = trace_add_policy(dispatcher_trace, scheduler->policy, event_names, EVENTS);
}

static inline __attribute__((always_inline)) uint16_t event_of(const struct scheduler *scheduler, enum trace_kind kind,
                                                               uint8_t detail) {
    static const uint8_t events[] = {[TRACE_NEW] = 1 + NAME_NEWTHREAD,           [TRACE_DISPATCHED] = 1 + NAME_SCHEDULE,
                                     [TRACE_SWITCHED_OUT] = 1 + NAME_SWITCH_OUT, [TRACE_BLOCKED] = 1 + NAME_BLOCK,
                                     [TRACE_RAISED] = 1 + NAME_EVENT_RAISED,     [TRACE_EXITED] = 1 + NAME_EXIT,
                                     [TRACE_SUSPENDED] = 1 + NAME_SUSPEND,       [TRACE_RESUMED] = 1 + NAME_RESUME,
                                     [TRACE_LENT] = 1 + NAME_SCHEDULE,           [TRACE_VALUE] = 0};
    if (!scheduler->traced || !events[kind])
        return 0;
    return (uint16_t)(scheduler->traced + events[kind] - 1 + (kind == TRACE_BLOCKED ? detail : 0));
}

/* ---- Records ----------------------------------------------------------------------------------------------------- */

/* How many threads are READY to the policy, where that is easily said: one policy decides for one processor. */
static inline __attribute__((always_inline)) uint16_t ready(enum trace_kind kind) {
    const struct scheduler *root = &dispatcher.root;
    if (dispatcher.several || root->next || root->node)
        return TRACE_NOT_KNOWN;
    int64_t count;
    switch (kind) {
    case TRACE_DISPATCHED:
    case TRACE_LENT:
        count = root->runnable - 1;
        break;
    case TRACE_BLOCKED:
    case TRACE_IDLE:
        count = root->runnable;
        break;
    default: /* a thread may be RUNNING */
        return TRACE_NOT_KNOWN;
    }
    return count < 0 || count >= TRACE_NOT_KNOWN ? TRACE_NOT_KNOWN : (uint16_t)count;
}

static inline __attribute__((always_inline)) struct trace_record *
record(enum trace_kind kind, uint32_t thread, uint8_t detail, uint16_t event, uint16_t ready) {
    struct trace_file *file = dispatcher_trace;
    const struct processor *here = processor_here();
    uint16_t processor = (uint16_t)(here->handed_on ? here->number_before : here->number);
    const struct trace_record *end = trace_follows(file, kind, processor);
    return trace_append(file, end ? end->time : (uint64_t)dispatcher.host->now(), kind, thread, detail, processor,
                        event, ready);
}

struct trace_record *dispatcher_record(enum trace_kind kind, const struct dispatcher_thread *thread, uint8_t detail) {
    if (!thread)
        return record(kind, 0, detail, 0, ready(kind));
    const struct scheduler *scheduler = thread->scheduler;
    struct trace_record *of_thread =
        record(kind, thread->policy.number, detail, event_of(scheduler, kind, detail), ready(kind));
    of_thread->line = trace_line_that_decided(scheduler->policy);
    return of_thread;
}

static void came_to(enum trace_kind kind, const struct dispatcher_thread *thread, uint8_t detail) {
    dispatcher_record(kind, thread, detail);
}

static void policy_out(uint32_t line) { dispatcher_record(TRACE_POLICY_OUT, NULL, 0)->line = line; }

void dispatcher_record_name(const struct dispatcher_thread *thread, const char *name) {
    trace_append_thread_name(dispatcher_trace, (uint64_t)dispatcher.host->now(), thread->policy.number,
                             (uint16_t)processor_here()->number, name);
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static struct trace_values values;

static void record_values(const char *base, const struct catapults_import *imports, uint32_t count, uint32_t thread,
                          uint32_t first) {
    for (uint32_t i = 0; i < count; i++) {
        uint16_t variable = (uint16_t)(first + i);
        uint64_t value;
        if (!trace_value_changed(&values, thread, variable, &imports[i], base, &value))
            continue;
        record(TRACE_VALUE, thread, (uint8_t)imports[i].type, variable, 0)->value = value;
    }
}

void dispatcher_record_dispatch(const struct dispatcher_thread *next) {
    struct processor *here = processor_here();
    if (next == &here->idle && here->handed_on) {
        next = here->handed_on; /* what ran here has left by now */
    } else if (next == &here->idle) {
        if (!here->handed)
            dispatcher_record(TRACE_IDLE, NULL, 0);
        return;
    } else if (here->recorded) {
        here->recorded = false;
        return;
    }
    const struct scheduler *scheduler = next->scheduler;
    const struct catapults_policy *policy = scheduler->policy;
    if (scheduler->traced && policy->imports_count + policy->thread_imports_count > 0) {
        const char *global = scheduler->shared ? scheduler->shared : scheduler->instance;
        record_values(global, policy->imports, policy->imports_count, 0, scheduler->traced + EVENTS);
        record_values((const char *)&next->policy, policy->thread_imports, policy->thread_imports_count,
                      next->policy.number, scheduler->traced + EVENTS + policy->imports_count);
    }
    const struct dispatcher_thread *turn = here->turn;
    if (__builtin_expect(turn && turn != next && turn != &here->idle, 0)) {
        struct trace_record *lent =
            record(TRACE_LENT, next->policy.number, 0, event_of(turn->scheduler, TRACE_LENT, 0), ready(TRACE_LENT));
        lent->donor = turn->policy.number;
        lent->line = trace_line_that_decided(turn->scheduler->policy);
        return;
    }
    dispatcher_record(TRACE_DISPATCHED, next, 0);
}
