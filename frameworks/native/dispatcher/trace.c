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
    record->kind = (uint8_t)kind;
    record->processor = (uint8_t)processor_here()->number;
    record->detail = detail;
    for (int i = 0; i < 16; i++)
        record->payload[i] = 0;
    file->written++;
    return record;
}

void dispatcher_record_dispatch(const struct dispatcher_thread *next) {
    if (next == &processor_here()->idle)
        dispatcher_record(TRACE_IDLE, 0, 0);
    else
        dispatcher_record(TRACE_DISPATCHED, next->policy.number, 0);
}
