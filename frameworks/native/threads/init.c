/*
 * Starting the runtime.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "dispatcher/builtin.h"
#include "dispatcher/trace.h"
#include "io/io.h"
#include "threads/runtime.h"

struct runtime runtime;

enum { STACK_SIZE = 64 << 10, STACK_LEAST = 16 << 10 };

/* Of the C++ library, in programs that are linked with it. */
__attribute__((weak)) struct dispatcher_exceptions *__cxa_get_globals(void);

static struct dispatcher_exceptions no_exceptions;

static void adopted(struct dispatcher_thread *thread) { imports_link(handle_of(thread)); }

static void finished(void) { exit(EXIT_SUCCESS); }

/* Allocates the record of the calling thread, at the end of a stack that nobody runs on. */
static struct catapults_handle *first_record(void) {
    struct stack *stack = stack_take(runtime.record_size);
    if (!stack)
        return NULL;
    char *record = (char *)stack - runtime.record_size;
    if (record < stack->lowest)
        return NULL;
    memset(record, 0, runtime.record_size);
    struct catapults_handle *self = (struct catapults_handle *)record;
    self->stack = stack;
    strcpy(self->name, "main");
    return self;
}

int catapults_init(const struct catapults_options *options) {
    static const struct catapults_options none;
    static struct dispatcher_host host = {.now = catapults_now,
                                          .adopted = adopted,
                                          .recorded = trace_name,
                                          .contained = report_contained,
                                          .deadlocked = report_deadlock,
                                          .finished = finished};
    if (!options)
        options = &none;
    if (runtime.started) {
        runtime_report("catapults_init was called before; call it once");
        return EALREADY;
    }
    const char *file = options->policy ? options->policy : runtime_environment("CATAPULTS_POLICY");
    const struct catapults_policy *policy = NULL;
    void *instance = NULL;
    int error = policy_load(file, &policy, &instance);
    if (error)
        return error;
    const struct catapults_policy *in_force = policy ? policy : dispatcher_compiled_in();
    if (!in_force)
        in_force = &dispatcher_builtin;

    const char *strict = runtime_environment("CATAPULTS_STRICT_IMPORTS");
    runtime.imports.strict = options->strict_imports || (strict && strcmp(strict, "1") == 0);
    runtime.stack_size = options->stack_size ? options->stack_size : STACK_SIZE;
    if (runtime.stack_size < STACK_LEAST)
        runtime.stack_size = STACK_LEAST;
    size_t size = offsetof(struct catapults_handle, dispatched) + dispatcher_thread_size(in_force);
    runtime.record_size = (size + 63) & ~(size_t)63;

    struct catapults_handle *self = first_record();
    if (!self) {
        runtime_report("no memory for the first thread");
        return ENOMEM;
    }
    const char *trace = options->trace ? options->trace : runtime_environment("CATAPULTS_TRACE");
    if (trace && *trace && (error = trace_open(trace)))
        return error;
    error = catapults_io_start(options->io);
    if (error)
        return error;
    host.error_number = &errno;
    host.exceptions = __cxa_get_globals ? __cxa_get_globals() : &no_exceptions;
    const struct catapults_stop *stop = dispatcher_start(&host, policy, instance, &self->dispatched);
    if (stop) {
        runtime_report("policy %s refuses the first thread (%s:%u): %s", in_force->name, in_force->source, stop->line,
                       stop->text);
        catapults_io_stop();
        return EINVAL;
    }
    runtime.imports.policy = in_force;
    runtime.imports.instance = policy ? instance : dispatcher_instance();
    runtime.started = true;
    if (dispatcher_trace)
        strncpy(dispatcher_trace->policy, in_force->name, sizeof dispatcher_trace->policy - 1);
    overflow_install();
    return 0;
}

const char *runtime_environment(const char *name) { return getauxval(AT_SECURE) ? NULL : getenv(name); }

void runtime_report(const char *format, ...) {
    static char line[1024] = "catapults: ";
    const size_t start = strlen("catapults: "), room = sizeof line - start;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line + start, room, format, arguments);
    va_end(arguments);
    size_t end = start + (length < 0 ? 0 : (size_t)length < room ? (size_t)length : room - 1);
    line[end++] = '\n';
    if (write(STDERR_FILENO, line, end) < 0)
        return;
}
