/*
 * Records in memory which thread ran when, and why: a ring of configCATAPULTS_TRACE_RECORDS records behind a table of
 * names, as in catapults/trace.h. `catapults trace` reads it once it is a file. A part of tasks.c, included by
 * freertos_tasks_c_additions.h; empty if the application asks for no records. Its functions are called where hooks are.
 */
#ifndef CATAPULTS_FREERTOS_RECORDING_H
#define CATAPULTS_FREERTOS_RECORDING_H

#if configCATAPULTS_TRACE_RECORDS > 0
#include "catapults/trace.h"

_Static_assert((configCATAPULTS_TRACE_RECORDS & (configCATAPULTS_TRACE_RECORDS - 1)) == 0,
               "configCATAPULTS_TRACE_RECORDS is to be a power of two");

/* Bytes before the records, with the header. */
#ifndef configCATAPULTS_TRACE_NAMES
#define configCATAPULTS_TRACE_NAMES 1024
#endif
_Static_assert(configCATAPULTS_TRACE_NAMES % 8 == 0, "records are aligned to 8 bytes");

/* The clock of records, in nanoseconds: whole ticks, unless the application names a finer one. */
#ifdef configCATAPULTS_TRACE_CLOCK
#ifndef configCATAPULTS_TRACE_RESOLUTION
#error "configCATAPULTS_TRACE_RESOLUTION is to say how many nanoseconds there are between two times of the clock"
#endif
#define CATAPULTS_TRACE_CLOCK_NAME "application"
#define CATAPULTS_TRACE_CLOCK() configCATAPULTS_TRACE_CLOCK()
#else
#define configCATAPULTS_TRACE_RESOLUTION (1000000000u / configTICK_RATE_HZ)
#define CATAPULTS_TRACE_CLOCK_NAME "ticks"
#define CATAPULTS_TRACE_CLOCK() catapults_now()
#endif

/* Of each event: its name, what becomes of the thread, and the reason as numbered in docs/traces.md. */
/* clang-format off */
#define CATAPULTS_RECORDED(of)                                                             \
    of(newthread, "newthread", TRACE_NEW, 0)                                               \
    of(schedule, "schedule", TRACE_DISPATCHED, 0)                                          \
    of(switch_out, "switch_out", TRACE_SWITCHED_OUT, 0)                                    \
    of(block_sleep, "block.sleep", TRACE_BLOCKED, 8)                                       \
    of(block_queue_send, "block.queue.send", TRACE_BLOCKED, TRACE_AS_THE_EVENT_SAYS)       \
    of(block_queue_receive, "block.queue.receive", TRACE_BLOCKED, TRACE_AS_THE_EVENT_SAYS) \
    of(block_semaphore, "block.semaphore", TRACE_BLOCKED, TRACE_AS_THE_EVENT_SAYS)         \
    of(block_lock, "block.lock", TRACE_BLOCKED, 5)                                         \
    of(block_notification, "block.notification", TRACE_BLOCKED, TRACE_AS_THE_EVENT_SAYS)   \
    of(block_event_group, "block.event_group", TRACE_BLOCKED, TRACE_AS_THE_EVENT_SAYS)     \
    of(block_stream, "block.stream", TRACE_BLOCKED, TRACE_AS_THE_EVENT_SAYS)               \
    of(event_raised, "event_raised", TRACE_RAISED, 0)                                      \
    of(suspend_thread, "suspend_thread", TRACE_SUSPENDED, 0)                               \
    of(resume_thread, "resume_thread", TRACE_RESUMED, 0)                                   \
    of(exit, "exit", TRACE_EXITED, 0)                                                      \
    of(cancel, "cancel", TRACE_EXITED, 0)
/* clang-format on */

/* Places in the names, behind the first four. Events that do not tell which thread runs are behind those that do. */
enum {
    CATAPULTS_NAMES_BEFORE = 3,
#define CATAPULTS_NUMBER(event, name, kind, reason) CATAPULTS_EVENT_##event,
    CATAPULTS_RECORDED(CATAPULTS_NUMBER)
#undef CATAPULTS_NUMBER
        CATAPULTS_EVENTS_END,
    CATAPULTS_EVENT_set_next_thread = CATAPULTS_EVENTS_END,
    CATAPULTS_EVENT_changed,
    CATAPULTS_EVENT_release
};

static _Alignas(8) char catapults_recording[configCATAPULTS_TRACE_NAMES + 32 * configCATAPULTS_TRACE_RECORDS];
static bool catapults_recorded; /* recording is over */

static struct trace_file *catapults_trace(void) { return (struct trace_file *)(void *)catapults_recording; }

/* Never before the last record, whatever an interrupt between a counter and its overflow does to the clock. */
static uint64_t catapults_record_time(void) {
    static uint64_t last;
    const uint64_t time = (uint64_t)CATAPULTS_TRACE_CLOCK();
    if (time > last)
        last = time;
    return last;
}

static void catapults_record_start(uint32_t seed) {
    struct trace_file *file = catapults_trace();
    trace_lay_out(file, configCATAPULTS_TRACE_NAMES, configCATAPULTS_TRACE_RECORDS);
    file->start = catapults_record_time();
    file->seed = seed;
    file->resolution = configCATAPULTS_TRACE_RESOLUTION;
    bool room = trace_add_name(file, 0, CATAPULTS_NAME, "") && trace_add_name(file, 0, CATAPULTS_SOURCE, "") &&
                trace_add_name(file, 0, "freertos", "") && trace_add_name(file, 0, CATAPULTS_TRACE_CLOCK_NAME, "");
#define CATAPULTS_ADD(event, name, kind, reason) room = room && trace_add_name(file, CATAPULTS_LINE_##event, name, "");
    CATAPULTS_RECORDED(CATAPULTS_ADD)
#undef CATAPULTS_ADD
#define CATAPULTS_ADD(variable, type) room = room && trace_add_name(file, 0, #variable, "");
    CATAPULTS_IMPORTS(CATAPULTS_ADD)
#undef CATAPULTS_ADD
    configASSERT(room); /* define a larger configCATAPULTS_TRACE_NAMES */
    catapults_recorded = !room;
}

static struct trace_record *catapults_append(enum trace_kind kind, uint8_t detail, uint16_t event,
                                             const struct catapults_thread *t) {
    return trace_append(catapults_trace(), catapults_record_time(), kind, t ? t->number : 0, detail, 0, event,
                        TRACE_NOT_KNOWN);
}

/* Variables of the application that have changed when a thread is dispatched. */
static void catapults_record_values(void) {
#define CATAPULTS_VALUE_int 0
#define CATAPULTS_VALUE_bool 1
#define CATAPULTS_VALUE_time 2
#define CATAPULTS_LOOK(variable, type)                                                                                 \
    {                                                                                                                  \
        static int64_t known;                                                                                          \
        static bool told;                                                                                              \
        if (!told || known != CATAPULTS_IMPORT_##variable) {                                                           \
            known = CATAPULTS_IMPORT_##variable;                                                                       \
            told = true;                                                                                               \
            catapults_append(TRACE_VALUE, CATAPULTS_VALUE_##type, variable_number, NULL)->value = (uint64_t)known;     \
        }                                                                                                              \
        variable_number++;                                                                                             \
    }
    uint16_t variable_number = CATAPULTS_EVENTS_END;
    CATAPULTS_IMPORTS(CATAPULTS_LOOK)
    (void)variable_number;
#undef CATAPULTS_LOOK
}

static void catapults_record_name(const struct catapults_thread *t) {
    trace_append_thread_name(catapults_trace(), catapults_record_time(), t->number, 0,
                             CATAPULTS_TASK_OF(t)->pcTaskName);
}

/* The policy has been told. */
static void catapults_record(unsigned event, const struct catapults_thread *t) {
    static const struct {
        uint8_t kind, reason;
    } told[] = {
#define CATAPULTS_KIND(event, name, kind, reason) [CATAPULTS_EVENT_##event] = {kind, reason},
        CATAPULTS_RECORDED(CATAPULTS_KIND)
#undef CATAPULTS_KIND
    };
    if (catapults_recorded || catapults.out || event >= CATAPULTS_EVENTS_END)
        return;
    if (event == CATAPULTS_EVENT_schedule)
        catapults_record_values();
    catapults_append((enum trace_kind)told[event].kind, told[event].reason, (uint16_t)event, t)->line =
        catapults_moved_by;
    if (event == CATAPULTS_EVENT_newthread)
        catapults_record_name(t);
}

/* The policy does not admit it, by this line. */
__attribute__((unused)) static void catapults_record_refused(const struct catapults_thread *t, uint32_t line) {
    if (catapults_recorded)
        return;
    catapults_append(TRACE_REFUSED, 0, CATAPULTS_EVENT_newthread, t)->line = line;
    catapults_record_name(t);
}

static void catapults_record_alone(enum trace_kind kind, const struct catapults_thread *t) {
    if (!catapults_recorded)
        catapults_append(kind, 0, 0, t);
}

static void catapults_record_out(uint32_t line) {
    if (!catapults_recorded)
        catapults_append(TRACE_POLICY_OUT, 0, 0, NULL)->line = line;
}

const void *catapults_trace_end(size_t *bytes) {
    catapults_recorded = true;
    *bytes = sizeof catapults_recording;
    return catapults_recording;
}

#define CATAPULTS_RECORD_START(seed) catapults_record_start(seed)
#define CATAPULTS_RECORD(event, t) catapults_record(CATAPULTS_EVENT_##event, t)
#define CATAPULTS_RECORD_ALONE(kind, t) catapults_record_alone(kind, t)
#define CATAPULTS_RECORD_REFUSED(t, line) catapults_record_refused(t, line)
#define CATAPULTS_RECORD_OUT(line) catapults_record_out(line)
#else
#define CATAPULTS_RECORD_START(seed) ((void)(seed))
#define CATAPULTS_RECORD(event, t) ((void)0)
#define CATAPULTS_RECORD_ALONE(kind, t) ((void)0)
#define CATAPULTS_RECORD_REFUSED(t, line) ((void)0)
#define CATAPULTS_RECORD_OUT(line) ((void)0)
#endif

#endif
