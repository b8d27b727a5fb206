/*
 * The recorder of who ran when, and why: a ring of records in memory that the host maps to a file. The format is read
 * by `catapults trace`; docs/traces.md has all of it; all numbers are little endian. One branch while it is off.
 * Several processors record in the order in which they have their lock.
 *
 * A record names the event whose handler decided it, in a table of names in the file that has the line of each policy's
 * handler. Which statement of the handler it was is not known: generated code would have to say so each time.
 */
#ifndef CATAPULTS_TRACE_H
#define CATAPULTS_TRACE_H

#include "dispatcher/record.h"

#define TRACE_MAGIC "CATTRACE"
#define TRACE_VERSION 2

struct trace_record {
    uint64_t time; /* nanoseconds of CLOCK_MONOTONIC */
    uint32_t thread;
    uint8_t kind;       /* enum trace_kind */
    uint8_t detail;     /* blocked: enum dispatcher_reason; a name: which 16 bytes; a value: its type */
    uint16_t processor; /* on which it happened, or which made it happen; 0 if there is one */
    union {
        struct {
            uint32_t line;  /* of the source; 0: that of the event's name */
            uint16_t event; /* into the names; 0: not known. A value: the variable */
            uint16_t ready; /* how many threads are; TRACE_NOT_KNOWN */
            union {
                uint32_t donor; /* lent: whose turn it is */
                uint64_t value;
            };
        };
        char name[16];
    };
};

struct trace_file {
    char magic[8];
    uint32_t version;
    uint32_t record_bytes;
    uint64_t capacity; /* of records; a power of two */
    uint64_t written;  /* ever: record n is in slot n % capacity */
    uint64_t start;
    uint32_t records_at; /* TRACE_RECORDS_AT */
    uint32_t names_bytes;
    uint32_t names_count;
    uint32_t zero[3];
    char names[]; /* each: the line in 4 bytes, the text, its source; both end with a zero */
};
_Static_assert(sizeof(struct trace_record) == 32 && sizeof(struct trace_file) == 64, "the format of trace files");

enum { TRACE_RECORDS_AT = 1 << 16, TRACE_NOT_KNOWN = 0xffff };

static inline struct trace_record *trace_records(const struct trace_file *file) {
    return (struct trace_record *)((char *)file + TRACE_RECORDS_AT);
}

enum trace_kind {
    TRACE_NEW = 1,
    TRACE_NAMED,
    TRACE_DISPATCHED,
    TRACE_SWITCHED_OUT, /* it could go on */
    TRACE_BLOCKED,
    TRACE_RAISED, /* ready again */
    TRACE_EXITED,
    TRACE_POLICY_OUT,
    TRACE_SUSPENDED,
    TRACE_RESUMED,
    TRACE_IDLE,
    TRACE_REFUSED,   /* not recorded here */
    TRACE_LENT,      /* it runs, on the turn of a thread that waits for it */
    TRACE_PREEMPTED, /* its policy took the processor from it */
    TRACE_VALUE      /* a variable that the policy imports has changed, since the thread (0: any) was dispatched last */
};

/* Where events are recorded; NULL: nowhere. */
extern struct trace_file *dispatcher_trace;

/* Sets that, before or after the start. */
void dispatcher_trace_to(struct trace_file *file);

/* Once the file is set, before any policy is in force: what is recorded, a hierarchy or (NULL) a policy, if not the
 * built-in one (NULL). */
void dispatcher_trace_begin(const char *hierarchy, const char *source, const struct catapults_policy *policy);

/* What the policy of a scheduler calls its events and variables is known from here on. Recording is on. */
void dispatcher_trace_names(struct scheduler *scheduler);

/* Appends a record. `thread` NULL: it concerns none. Recording is on. */
struct trace_record *dispatcher_record(enum trace_kind kind, const struct dispatcher_thread *thread, uint8_t detail);

/* This processor goes on with `next`, be it nobody. */
void dispatcher_record_dispatch(const struct dispatcher_thread *next);

#define TRACE(kind, thread, detail)                                                                                    \
    do {                                                                                                               \
        if (__builtin_expect(dispatcher_trace != NULL, 0))                                                             \
            dispatcher_record(kind, thread, (uint8_t)(detail));                                                        \
    } while (0)

#endif
