#include "dispatcher/trace.h"

#include "dispatcher/state.h"

struct trace_file *dispatcher_trace;

void dispatcher_trace_to(struct trace_file *file) {
    dispatcher_trace = file;
    dispatcher_find_flat();
}

struct trace_record *dispatcher_record(enum trace_kind kind, uint32_t thread, uint16_t detail) {
    struct trace_file *file = dispatcher_trace;
    struct trace_record *record = &file->records[file->written & (file->capacity - 1)];
    record->time = (uint64_t)dispatcher.host->now();
    record->thread = thread;
    record->kind = (uint16_t)kind;
    record->detail = detail;
    for (int i = 0; i < 16; i++)
        record->payload[i] = 0;
    file->written++;
    return record;
}
