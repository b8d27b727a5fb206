#include "dispatcher/trace.h"

#include "dispatcher/state.h"

struct trace_file *dispatcher_trace;

void dispatcher_trace_to(struct trace_file *file) {
    dispatcher_trace = file;
    dispatcher_find_flat();
}

/* ---- Names ------------------------------------------------------------------------------------------------------- */

/* Those of a scheduler's policy stand together: its events in this order, then its variables. */
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

static bool same(const char *one, const char *other) {
    while (*one && *one == *other) {
        one++;
        other++;
    }
    return *one == *other;
}

static uint32_t append(uint32_t at, const char *text) {
    char *names = dispatcher_trace->names;
    do
        if (at < TRACE_RECORDS_AT - sizeof(struct trace_file))
            names[at++] = *text;
        else
            return at + 1;
    while (*text++);
    return at;
}

/* Whether there was room. */
static bool add(uint32_t line, const char *text, const char *source) {
    struct trace_file *file = dispatcher_trace;
    uint32_t at = file->names_bytes;
    if (at + 4 > TRACE_RECORDS_AT - sizeof *file)
        return false;
    for (int i = 0; i < 4; i++)
        file->names[at++] = (char)(line >> 8 * i);
    at = append(append(at, text), source);
    if (at > TRACE_RECORDS_AT - sizeof *file)
        return false;
    file->names_bytes = at;
    file->names_count++;
    return true;
}

static uint32_t line_of(const struct catapults_policy *policy, const char *event) {
    for (uint32_t i = 0; i < policy->places_count; i++)
        if (same(policy->places[i].event, event))
            return policy->places[i].line;
    return 0;
}

void dispatcher_trace_begin(const char *hierarchy, const char *source, const struct catapults_policy *policy) {
    if (!policy)
        policy = &dispatcher_builtin;
    add(0, hierarchy ? hierarchy : policy->name, "");
    add(0, hierarchy ? source : policy->source, "");
    add(0, "native", "");
    add(0, "CLOCK_MONOTONIC", "");
}

void dispatcher_trace_names(struct scheduler *scheduler) {
    const struct catapults_policy *policy = scheduler->policy;
    scheduler->traced = 0;
    uint32_t first = dispatcher_trace->names_count;
    bool room = first < UINT16_MAX / 2;
    for (uint32_t i = 0; i < EVENTS && room; i++)
        room = add(line_of(policy, event_names[i]), event_names[i], policy->source);
    for (uint32_t i = 0; i < policy->imports_count && room; i++)
        room = add(0, policy->imports[i].name, "");
    for (uint32_t i = 0; i < policy->thread_imports_count && room; i++)
        room = add(0, policy->thread_imports[i].name, "");
    if (room)
        scheduler->traced = (uint16_t)first; /* else its records do without */
}

static uint16_t event_of(const struct scheduler *scheduler, enum trace_kind kind, uint8_t detail) {
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

/* Threads that are READY to the policy, where that is easily said: one policy decides for one processor. */
static uint16_t ready(enum trace_kind kind) {
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
    default: /* somebody may be RUNNING */
        return TRACE_NOT_KNOWN;
    }
    return count < 0 || count >= TRACE_NOT_KNOWN ? TRACE_NOT_KNOWN : (uint16_t)count;
}

static struct trace_record *next_record(enum trace_kind kind, uint32_t thread, uint8_t detail) {
    struct trace_file *file = dispatcher_trace;
    struct trace_record *record = &trace_records(file)[file->written & (file->capacity - 1)];
    *record = (struct trace_record){.time = (uint64_t)dispatcher.host->now(),
                                    .thread = thread,
                                    .kind = (uint8_t)kind,
                                    .detail = detail,
                                    .processor = (uint16_t)processor_here()->number};
    file->written++;
    return record;
}

struct trace_record *dispatcher_record(enum trace_kind kind, const struct dispatcher_thread *thread, uint8_t detail) {
    struct trace_record *record = next_record(kind, thread ? thread->policy.number : 0, detail);
    if (kind == TRACE_NAMED)
        return record;
    record->ready = ready(kind);
    if (thread)
        record->event = event_of(thread->scheduler, kind, detail);
    return record;
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

/* The last one of a variable that was recorded; another variable may take its place, and then it is recorded again. */
static struct known {
    uint32_t thread;
    uint16_t variable;
    uint64_t value;
} known[1 << 10];

static void record_values(const char *base, const struct catapults_import *imports, uint32_t count, uint32_t thread,
                          uint32_t first) {
    for (uint32_t i = 0; i < count; i++) {
        const void *place = *(const void *const *)(base + imports[i].pointer);
        uint64_t value =
            imports[i].type == CATAPULTS_IMPORT_BOOL ? *(const unsigned char *)place : *(const uint64_t *)place;
        struct known *last = &known[(thread * 31 + first + i) % (sizeof known / sizeof *known)];
        uint16_t variable = (uint16_t)(first + i);
        if (last->thread == thread && last->variable == variable && last->value == value)
            continue;
        *last = (struct known){.thread = thread, .variable = variable, .value = value};
        struct trace_record *record = next_record(TRACE_VALUE, thread, (uint8_t)imports[i].type);
        record->event = variable;
        record->value = value;
    }
}

void dispatcher_record_dispatch(const struct dispatcher_thread *next) {
    const struct processor *here = processor_here();
    if (next == &here->idle) {
        dispatcher_record(TRACE_IDLE, NULL, 0);
        return;
    }
    const struct scheduler *scheduler = next->scheduler;
    const struct catapults_policy *policy = scheduler->policy;
    if (scheduler->traced) {
        const char *global = scheduler->shared ? scheduler->shared : scheduler->instance;
        record_values(global, policy->imports, policy->imports_count, 0, scheduler->traced + EVENTS);
        record_values((const char *)&next->policy, policy->thread_imports, policy->thread_imports_count,
                      next->policy.number, scheduler->traced + EVENTS + policy->imports_count);
    }
    const struct dispatcher_thread *turn = here->turn;
    bool lent = turn && turn != next && turn != &here->idle;
    struct trace_record *record = dispatcher_record(lent ? TRACE_LENT : TRACE_DISPATCHED, next, 0);
    if (lent) {
        record->event = event_of(turn->scheduler, TRACE_LENT, 0);
        record->donor = turn->policy.number;
    }
}
