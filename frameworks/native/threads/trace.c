/*
 * The file that the dispatcher records in: a ring in a shared mapping, so that it is complete however the program ends.
 */
#include "dispatcher/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "threads/runtime.h"

enum { CAPACITY = 1 << 20 }; /* records */

int trace_open(const char *file) {
    size_t size = TRACE_RECORDS_AT + (size_t)CAPACITY * sizeof(struct trace_record);
    int descriptor = open(file, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor < 0) {
        int error = errno;
        runtime_report("cannot record a trace in %s: %s; name a file that can be written", file, strerror(error));
        return error;
    }
    struct trace_file *trace = MAP_FAILED;
    if (ftruncate(descriptor, (off_t)size) == 0)
        trace = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    int error = errno;
    close(descriptor);
    if (trace == MAP_FAILED) {
        runtime_report("cannot record a trace in %s: %s", file, strerror(error));
        return error;
    }
    memcpy(trace->magic, TRACE_MAGIC, sizeof trace->magic);
    trace->version = TRACE_VERSION;
    trace->record_bytes = sizeof(struct trace_record);
    trace->capacity = CAPACITY;
    trace->records_at = TRACE_RECORDS_AT;
    trace->start = (uint64_t)catapults_now();
    dispatcher_trace_to(trace);
    return 0;
}

void trace_name(struct dispatcher_thread *thread) {
    const char *name = handle_of(thread)->name;
    size_t length = strlen(name);
    for (size_t part = 0; part * 16 < length && part < 256; part++) {
        struct trace_record *record = dispatcher_record(TRACE_NAMED, thread, (uint8_t)part);
        strncpy(record->name, name + part * 16, sizeof record->name); /* not ended with a zero if it is full */
    }
}
