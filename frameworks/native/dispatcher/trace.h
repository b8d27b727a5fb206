/*
 * The recorder of who ran when: a ring of records in memory that the host maps to a file. The format is read by
 * `catapults trace export`; all numbers are little endian. One branch while it is off. Several processors record in the
 * order in which they have their lock.
 */
#ifndef CATAPULTS_TRACE_H
#define CATAPULTS_TRACE_H

#include "dispatcher/record.h"

#define TRACE_MAGIC "CATTRACE"
#define TRACE_VERSION 1

struct trace_record {
    uint64_t time; /* nanoseconds of CLOCK_MONOTONIC */
    uint32_t thread;
    uint8_t kind;      /* enum trace_kind */
    uint8_t processor; /* on which it happened, or which made it happen; 0 if there is one */
    uint16_t detail;
    char payload[16];
};

struct trace_file {
    char magic[8];
    uint32_t version;
    uint32_t record_bytes;
    uint64_t capacity; /* of records; a power of two */
    uint64_t written;  /* ever: record n is in slot n % capacity */
    uint64_t start;
    char policy[24];
    struct trace_record records[];
};
_Static_assert(sizeof(struct trace_record) == 32 && sizeof(struct trace_file) == 64, "the format of trace files");

enum trace_kind {
    TRACE_NEW = 1,
    TRACE_NAMED, /* payload: 16 bytes of the name; detail: which 16 */
    TRACE_DISPATCHED,
    TRACE_SWITCHED_OUT, /* it could go on */
    TRACE_BLOCKED,      /* detail: enum dispatcher_reason */
    TRACE_RAISED,       /* ready again */
    TRACE_EXITED,
    TRACE_POLICY_OUT, /* detail: the line of the .sched file */
    TRACE_SUSPENDED,
    TRACE_RESUMED,
    TRACE_IDLE
};

/* Where events are recorded; NULL: nowhere. */
extern struct trace_file *dispatcher_trace;

/* Sets that, before or after the start. */
void dispatcher_trace_to(struct trace_file *file);

/* Appends a record. `thread` 0: none. Recording is on. */
struct trace_record *dispatcher_record(enum trace_kind kind, uint32_t thread, uint16_t detail);

/* This processor goes on with `next`, be it nobody. */
void dispatcher_record_dispatch(const struct dispatcher_thread *next);

#define TRACE(kind, thread, detail)                                                                                    \
    do {                                                                                                               \
        if (__builtin_expect(dispatcher_trace != NULL, 0))                                                             \
            dispatcher_record(kind, (thread)->policy.number, (uint16_t)(detail));                                      \
    } while (0)

#endif
