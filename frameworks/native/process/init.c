/*
 * Starting the runtime.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "catapults/random.h"
#include "contexts/here.h"
#include "contexts/libc.h"
#include "contexts/text.h"
#include "core/builtin.h"
#include "dispatcher/trace.h"
#include "process/account.h"
#include "process/activations.h"
#include "process/driver.h"
#include "process/face.h"
#include "process/handler_limit.h"
#include "process/imports.h"
#include "process/kernel_threads.h"
#include "process/live.h"
#include "process/load.h"
#include "process/names.h"
#include "process/preempt.h"
#include "process/report.h"
#include "process/runtime.h"
#include "process/scheduler_handle.h"
#include "process/signals.h"
#include "process/thread_locals.h"
#include "process/trace_file.h"

struct runtime runtime;

enum { STACK_SIZE = 64 << 10, STACK_LEAST = 16 << 10, HANDLER_LIMIT = 1000000000 /* nanoseconds */ };

static struct dispatcher_exceptions no_exceptions;

static void adopted(struct dispatcher_thread *thread) { imports_link(member_of(thread)); }

static void scheduler_adopted(struct dispatcher_thread *record) { imports_adopted(record); }

static void scheduler_started(struct scheduler *scheduler) {
    if (!scheduler->parent) {
        scheduler->host = &scheduler_root;
        scheduler_root.dispatched = scheduler;
        scheduler->name = scheduler_root.name[0] ? scheduler_root.name : NULL;
    }
    imports_started(scheduler_handle(scheduler));
    if (scheduler->policy->unbounded)
        watch_start();
}

static void signalled(void) {
    signals_attend();
    live_attend();
}

static void finished(void) { exit(EXIT_SUCCESS); }

static void too_early(void) {
    runtime_report("a function of catapults.h is called that needs catapults_init first");
    abort();
}

/* Until then, a call that asks for the caller, or enters the dispatcher, comes here. */
__attribute__((constructor(101))) static void expect_init(void) {
    dispatcher_guard = (struct dispatcher_guard){
        .guarded = true, .regains = true, .several = true, .enter = too_early, .leave = too_early, .regain = too_early};
}

/* Reports options that cannot be meant. 0 or EINVAL. */
static int check(const struct catapults_options *options) {
    const struct {
        const char *name;
        int64_t value;
    } times[] = {{"handler_limit", options->handler_limit},
                 {"starvation_limit", options->starvation_limit},
                 {"tick", options->tick}};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        if (times[i].value < 0) {
            runtime_report("the option `%s` is %" PRId64 ": it must be a number of nanoseconds, or 0", times[i].name,
                           times[i].value);
            return EINVAL;
        }
    if ((unsigned)options->accounting > CATAPULTS_ACCOUNTING_STATISTICAL) {
        runtime_report("the option `accounting` is %d: there is no such one", (int)options->accounting);
        return EINVAL;
    }
    if (options->stack_size && !stack_pool(options->stack_size)) {
        runtime_report("the option `stack_size` is %zu: there are no stacks so large", options->stack_size);
        return EINVAL;
    }
    return 0;
}

/* The option, else the environment variable, in milliseconds, else the default. */
static int64_t limit_of(int64_t option, const char *variable, int64_t usual) {
    const char *text = libc_environment(variable);
    if (option > 0 || !text || !*text)
        return option > 0 ? option : usual;
    uint64_t milliseconds;
    if (!text_number(text, INT64_MAX / 1000000, &milliseconds) || milliseconds == 0) {
        runtime_report("%s is \"%s\": it must be a number of milliseconds", variable, text);
        return usual;
    }
    return (int64_t)milliseconds * 1000000;
}

/* The option, else the environment variable, else what policies begin with. */
static uint64_t seed_of(uint64_t option) {
    const char *text = libc_environment("CATAPULTS_RANDOM_SEED");
    if (option || !text || !*text)
        return option ? option : CATAPULTS_RANDOM_SEED;
    uint64_t seed;
    if (!text_number(text, UINT64_MAX, &seed) || seed == 0 || *text < '0' || *text > '9') {
        runtime_report("CATAPULTS_RANDOM_SEED is \"%s\": it must be a number from 1 to %" PRIu64, text, UINT64_MAX);
        return CATAPULTS_RANDOM_SEED;
    }
    return seed;
}

static int init(const struct catapults_options *options, const struct face *face) {
    static const struct catapults_options none;
    static struct dispatcher_host host = {.record = offsetof(struct member, dispatched),
                                          .now = catapults_now,
                                          .adopted = adopted,
                                          .scheduler_adopted = scheduler_adopted,
                                          .scheduler_started = scheduler_started,
                                          .recorded = trace_name,
                                          .contained = report_contained,
                                          .tidy = stack_cool,
                                          .signalled = signalled,
                                          .undisturbed = signals_undisturbed,
                                          .about_to_run = signals_about_to_run,
                                          .deadlocked = report_deadlock,
                                          .finished = finished,
                                          .inconsistent = report_inconsistent};
    if (!options)
        options = &none;
    if (runtime.started) {
        runtime_report("catapults_init was called before; call it once");
        return EALREADY;
    }
    runtime.face = face;
    dispatcher_guard = (struct dispatcher_guard){0};
    const char *trace = options->trace ? options->trace : libc_environment("CATAPULTS_TRACE");
    runtime.traced = trace && *trace;
    const char *file = options->policy ? options->policy : libc_environment("CATAPULTS_POLICY");
    const struct catapults_policy *policy = NULL;
    const struct catapults_hierarchy *hierarchy = NULL;
    int error = check(options);
    if (error == 0)
        error = policy_load(file, true, &policy, &hierarchy);
    if (error)
        return error;
    const struct catapults_policy *in_force = policy ? policy : dispatcher_compiled_in();
    if (!in_force)
        in_force = &dispatcher_builtin;

    runtime.strict_imports = runtime_switch("CATAPULTS_STRICT_IMPORTS") || options->strict_imports;
    runtime.activations = runtime_switch("CATAPULTS_ACTIVATIONS") || options->activations;
    runtime.handler_limit = limit_of(options->handler_limit, "CATAPULTS_HANDLER_LIMIT", HANDLER_LIMIT);
    runtime.starvation_limit = limit_of(options->starvation_limit, "CATAPULTS_STARVATION_LIMIT", 0);
    runtime.processors = processors_wanted(options);
    if (runtime.processors == 0)
        return EINVAL;
    runtime.several = runtime.processors > 1;
    runtime.stack_size = options->stack_size ? options->stack_size : STACK_SIZE;
    if (runtime.stack_size < STACK_LEAST)
        runtime.stack_size = STACK_LEAST;
    host.exchange = face->exchange;
    error = thread_locals_prepare(options, &host);
    if (error)
        return error;
    runtime_make_room(in_force);
    for (uint32_t i = 1; hierarchy && i < hierarchy->nodes_count; i++)
        runtime_make_room(hierarchy->nodes[i].policy);
    scheduler_root = (struct catapults_scheduler){.dispatched = dispatcher_root(), .policy = in_force};
    if (hierarchy) {
        scheduler_root.parameters = hierarchy->nodes[0].parameters;
        scheduler_root.parameters_count = hierarchy->nodes[0].parameters_count;
        text_format(scheduler_root.name, sizeof scheduler_root.name, "%s", hierarchy->nodes[0].name);
    }
    scheduler_default = &scheduler_root;
    if (in_force->shared_size)
        policy = in_force; /* as below: so is what its instances share */
    if (runtime.several) {
        policy = in_force; /* the compiled-in instance is for one processor */
        error = processors_refuse();
    }
    if (error == 0)
        account_prepare(options, &host);
    void *instance = policy && error == 0 ? policy_instance(policy) : NULL;
    if (error == 0 && policy && !instance)
        error = ENOMEM;
    if (error)
        return error;
    scheduler_root.instance = instance;
    error = imports_check_parameters(&scheduler_root);
    if (error == 0)
        error = imports_prepare(&scheduler_root);
    if (error)
        return error;

    struct member *self = runtime.face->first();
    if (!self) {
        runtime_report("no memory for the first thread");
        return ENOMEM;
    }
    if (runtime.traced && (error = trace_open(trace, file)))
        return error;
    error = catapults_io_start(options->io, runtime.activations ? "activations" : NULL, runtime.several);
    if (error)
        return error;
    if (runtime.activations && ((error = load_prepare_elsewhere()) || (error = activations_start(runtime.several)))) {
        catapults_io_stop();
        return error;
    }
    host.error_number = libc_error_number();
    host.starvation_limit = runtime.starvation_limit;
    host.seed = seed_of(options->seed);
    struct dispatcher_exceptions *exceptions = libc_exceptions();
    host.exceptions = exceptions ? exceptions : &no_exceptions;
    preempt_start(options, &host);
    if (runtime.several)
        processors_prepare(&host);
    if (dispatcher_trace)
        dispatcher_trace_begin(hierarchy ? hierarchy->name : NULL, hierarchy ? hierarchy->source : NULL, policy,
                               host.seed);
    dispatcher_prepare(&host, policy, instance);
    error = hierarchy ? schedulers_add(hierarchy) : 0;
    if (error) {
        catapults_io_stop();
        return error;
    }
    const struct catapults_stop *stop = dispatcher_start_under(scheduler_default->dispatched, &self->dispatched);
    if (stop) {
        in_force = scheduler_default->policy;
        runtime_report("policy %s refuses the first thread (%s:%u): %s", in_force->name, in_force->source, stop->line,
                       stop->text);
        catapults_io_stop();
        return EINVAL;
    }
    if (runtime.several && (error = processors_start())) {
        catapults_io_stop();
        return error;
    }
    live_start();
    dispatcher_leave(); /* entered by activations_start, or processors_start */
    runtime.started = here()->process.runs_threads = true;
    return 0;
}

int runtime_start(const struct catapults_options *options, const struct face *face) {
    int error = init(options, face);
    if (error && !runtime.started)
        expect_init();
    return error;
}

void runtime_make_room(const struct catapults_policy *policy) {
    size_t size = scheduler_member_size(policy) + runtime.thread_locals_size;
    if (size > runtime.member_size)
        runtime.member_size = size;
    runtime.face->resized();
}

bool runtime_switch(const char *name) {
    const char *text = libc_environment(name);
    if (text && *text && !text_equal(text, "0") && !text_equal(text, "1"))
        runtime_report("%s is \"%s\": it must be 0 or 1", name, text);
    return text && text_equal(text, "1");
}
