/*
 * The file that the dispatcher records in.
 */
#include "catapults/trace_mapped.h"
#include "dispatcher/trace.h"

#include "contexts/text.h"
#include "process/report.h"
#include "process/runtime.h"
#include "process/trace_file.h"

int trace_open(const char *file, const char *policy) {
    if (trace_is_policy(file, policy)) {
        runtime_report("cannot record a trace in %s: it is the policy; name another file", file);
        return EINVAL;
    }
    struct trace_mapping mapping = trace_map(file);
    if (!mapping.file) {
        runtime_report("cannot record a trace in %s: %s%s", file, text_of_error(mapping.error),
                       mapping.opened ? "" : "; name a file that can be written");
        return mapping.error;
    }
    mapping.file->start = (uint64_t)catapults_now();
    dispatcher_trace_to(mapping.file);
    return 0;
}

void trace_name(struct dispatcher_thread *thread) { dispatcher_record_name(thread, member_of(thread)->name); }
