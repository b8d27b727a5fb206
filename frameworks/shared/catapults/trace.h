/*
 * The recorder of which thread ran when, and why: a table of names, and a ring of records. A host keeps both in memory
 * that is mapped to a file (trace_mapped.h), or that becomes one at its end. `catapults trace` reads the format;
 * docs/traces.md has all of it. All numbers are little endian. A host with several processors appends under their lock.
 *
 *   struct trace_file │ names ... │ record │ record │ ...
 *   ◄────────── records_at ──────►◄─ 32 ──►  a power of two of them: `capacity`
 *
 * Nothing here calls libc, or allocates; it is the same on hosts with 32 bits.
 */
#ifndef CATAPULTS_TRACE_FORMAT_H
#define CATAPULTS_TRACE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRACE_MAGIC "CATTRACE"
#define TRACE_VERSION 3

struct trace_record {
    uint64_t time; /* nanoseconds of the host's clock */
    uint32_t thread;
    uint8_t kind;       /* enum trace_kind */
    uint8_t detail;     /* blocked: the reason; a name: which 16 bytes; a value: its type */
    uint16_t processor; /* on which it happened, or which caused it; 0 if there is one */
    union {
        struct {
            uint32_t line;  /* of the source; 0: that of the event's name */
            uint16_t event; /* into the names; 0: not known. A value: the variable */
            uint16_t ready; /* how many threads are ready; TRACE_NOT_KNOWN */
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
    uint64_t capacity;   /* of records; a power of two */
    uint64_t written;    /* ever: record n is in slot n % capacity */
    uint64_t start;      /* when recording began */
    uint32_t records_at; /* bytes from here */
    uint32_t names_bytes;
    uint32_t names_count;
    uint32_t resolution; /* nanoseconds between two times that its clock tells apart; 0: not known */
    uint32_t zero[2];
    uint64_t seed; /* of what policies draw; 0: not known */
    char names[];  /* each: the line in 4 bytes, the text, its source; both end with a zero */
};
_Static_assert(sizeof(struct trace_record) == 32 && sizeof(struct trace_file) == 72, "the format of trace files");

enum { TRACE_NOT_KNOWN = 0xffff };

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
    TRACE_REFUSED,
    TRACE_LENT,      /* it runs, on the turn of a thread that waits for it */
    TRACE_PREEMPTED, /* its policy took the processor from it */
    TRACE_VALUE      /* a variable that the policy imports has changed since the thread (0: any) was last dispatched */
};

/* Why a thread is blocked. 0 to 12 are the native runtime's. */
enum { TRACE_AS_THE_EVENT_SAYS = 255 };

static inline struct trace_record *trace_records(const struct trace_file *file) {
    return (struct trace_record *)((char *)file + file->records_at);
}

/* `file` is zeroed, and as long as this says. */
static inline void trace_lay_out(struct trace_file *file, uint32_t records_at, uint64_t capacity) {
    for (int i = 0; i < 8; i++)
        file->magic[i] = TRACE_MAGIC[i];
    file->version = TRACE_VERSION;
    file->record_bytes = sizeof(struct trace_record);
    file->capacity = capacity;
    file->records_at = records_at;
}

/* ---- Names ------------------------------------------------------------------------------------------------------- */

static inline uint32_t trace_append_text(struct trace_file *file, uint32_t at, const char *text) {
    do
        if (at < file->records_at - sizeof *file)
            file->names[at++] = *text;
        else
            return at + 1;
    while (*text++);
    return at;
}

/* The first four are the policy or hierarchy, its source, the host, and its clock. Returns whether there was room. */
static inline bool trace_add_name(struct trace_file *file, uint32_t line, const char *text, const char *source) {
    uint32_t at = file->names_bytes, room = file->records_at - (uint32_t)sizeof *file;
    if (at + 4 > room)
        return false;
    for (int i = 0; i < 4; i++)
        file->names[at++] = (char)(line >> 8 * i);
    at = trace_append_text(file, trace_append_text(file, at, text), source);
    if (at > room)
        return false;
    file->names_bytes = at;
    file->names_count++;
    return true;
}

/* ---- Records ----------------------------------------------------------------------------------------------------- */

/* Appends one; its time must not be before that of the record before it. It is written field by field: a copy would
 * read a record that was put together elsewhere before that has been written. */
static inline __attribute__((always_inline)) struct trace_record *trace_append(struct trace_file *file, uint64_t time,
                                                                               enum trace_kind kind, uint32_t thread,
                                                                               uint8_t detail, uint16_t processor,
                                                                               uint16_t event, uint16_t ready) {
    struct trace_record *record = &trace_records(file)[file->written & (file->capacity - 1)];
    record->time = time;
    record->thread = thread;
    record->kind = (uint8_t)kind;
    record->detail = detail;
    record->processor = processor;
    record->line = 0;
    record->event = event;
    record->ready = ready;
    record->value = 0;
    file->written++;
    return record;
}

/*
 * A processor decides as soon as a turn has ended on it. So one look at the clock, which takes most of the time of a
 * record, serves both the end and what follows. If a host looks at something in between for long, such as the world
 * outside, that makes records of its own: a thread is woken, or none runs. NULL: a record of this kind does not follow
 * such an end; else that end, or the value of a variable between the two.
 */
static inline __attribute__((always_inline)) const struct trace_record *
trace_follows(const struct trace_file *file, enum trace_kind kind, uint16_t processor) {
    enum {
        ENDS_TURN =
            1 << TRACE_SWITCHED_OUT | 1 << TRACE_BLOCKED | 1 << TRACE_EXITED | 1 << TRACE_PREEMPTED | 1 << TRACE_VALUE,
        FOLLOWS = 1 << TRACE_DISPATCHED | 1 << TRACE_LENT | 1 << TRACE_IDLE | 1 << TRACE_VALUE
    };
    if (!(FOLLOWS >> kind & 1) || !file->written)
        return NULL;
    const struct trace_record *last = &trace_records(file)[(file->written - 1) & (file->capacity - 1)];
    return ENDS_TURN >> last->kind & 1 && last->processor == processor ? last : NULL;
}

/* The name of a thread, in as many records as it needs. */
static inline void trace_append_thread_name(struct trace_file *file, uint64_t time, uint32_t thread, uint16_t processor,
                                            const char *name) {
    for (unsigned part = 0; *name && part < 256; part++) {
        struct trace_record *record = trace_append(file, time, TRACE_NAMED, thread, (uint8_t)part, processor, 0, 0);
        for (int i = 0; i < 16 && *name; i++)
            record->name[i] = *name++;
    }
}

#endif
