/*
 * What a processor does for those who ask, within the runtime's lock: it says what there is at that moment, or changes
 * something.
 */
#include <errno.h>
#include <inttypes.h>

#include "contexts/text.h"
#include "contexts/tools.h"
#include "core/state.h"
#include "process/face.h"
#include "process/imports.h"
#include "process/live.h"
#include "process/runtime.h"
#include "process/scheduler_handle.h"
#include "process/signals.h"

static void look(struct live_request *request);
static const char *set(const struct live_request *request, char *text);
static const char *replace(const struct live_request *request, char *text);

void live_attend(void) {
    struct live_request *request = live_begin();
    if (!request)
        return;
    request->refused = NULL;
    switch (request->kind) {
    case LIVE_LOOK:
        look(request);
        break;
    case LIVE_WATCH:
        dispatcher_watch_consumed(request->watch);
        break;
    case LIVE_SET:
        request->refused = set(request, request->text);
        break;
    case LIVE_REPLACE:
        request->refused = replace(request, request->text);
        break;
    }
    live_end();
}

/* In code that may depend on its kernel thread, until it goes on. `held`: in a call of the kernel's. */
static __attribute__((noinline)) void serve(bool held) {
    struct processor *kept_on = dispatcher_keep_here();
    if (held)
        dispatcher_hold();
    dispatcher_enter();
    live_attend();
    dispatcher_unblocked();
    dispatcher_leave();
    if (held)
        dispatcher_release();
    dispatcher_keep_as(kept_on);
}

TOOLS_UNSEEN void live_interrupted(enum preemption_where where) {
    const struct processor *here = processor_here();
    if (where == PREEMPTION_ELSEWHERE || here->polling || here->inside || here->current == &here->idle ||
        here->current->hold_depth || signals.off)
        dispatcher_signalled();
    else
        serve(where == PREEMPTION_CALL);
}

/* ---- What there is ----------------------------------------------------------------------------------------------- */

static const char *const types[] = {[CATAPULTS_IMPORT_INT] = "int",
                                    [CATAPULTS_IMPORT_BOOL] = "bool",
                                    [CATAPULTS_IMPORT_TIME] = "time",
                                    [CATAPULTS_IMPORT_FLOAT] = "float"};

/* What does not fit is left out. */
__attribute__((format(printf, 2, 3))) static void add(struct live_request *request, const char *format, ...) {
    size_t room = sizeof request->head - request->head_length;
    va_list arguments;
    va_start(arguments, format);
    size_t length = text_format_list(request->head + request->head_length, room, format, arguments);
    va_end(arguments);
    if (length < room)
        request->head_length += length;
}

/* The bits of a variable where the policy reads it. `base`: the instance, or the policy's part of a thread. */
static uint64_t bits_of(const struct catapults_import *import, const char *base) {
    const void *place = *(void *const *)(base + import->pointer);
    return import->type == CATAPULTS_IMPORT_BOOL ? *(const uint8_t *)place != 0 : *(const uint64_t *)place;
}

static void add_imports(struct live_request *request, const struct scheduler *scheduler, uint32_t number) {
    const struct catapults_policy *policy = scheduler->policy;
    const char *base = imports_of(scheduler);
    for (uint32_t i = 0; i < policy->imports_count; i++) {
        const struct catapults_import *one = &policy->imports[i];
        add(request, "import %" PRIu32 " global %s %d %" PRIu64 " %s\n", number, types[one->type],
            imports_is_kept(one, false), bits_of(one, base), one->name);
    }
    for (uint32_t i = 0; i < policy->thread_imports_count; i++) {
        const struct catapults_import *one = &policy->thread_imports[i];
        add(request, "import %" PRIu32 " thread %s %d 0 %s\n", number, types[one->type], imports_is_kept(one, true),
            one->name);
    }
}

/* Of all, from 0. A policy with an instance for each processor is one. */
static uint32_t number_of(const struct scheduler *scheduler) {
    uint32_t number = 0;
    const struct scheduler *one = dispatcher_root();
    if (!scheduler || scheduler->shared)
        return 0;
    for (; one && one != scheduler; one = dispatcher_next_scheduler(one))
        number++;
    return one ? number : 0;
}

static bool runs(const struct dispatcher_thread *thread) {
    if (thread->scheduler->policy->classes[thread->policy.container] == CATAPULTS_RUNNING)
        return true;
    for (uint32_t i = 0; i < dispatcher_processors() || i == 0; i++) {
        const struct processor *one = dispatcher_guard.several ? dispatcher_processor_at(i) : processor_here();
        if (one->current == thread && !one->polling)
            return true;
    }
    return false;
}

static enum live_state state_of(const struct dispatcher_thread *thread) {
    switch ((enum dispatcher_state)thread->state) {
    case THREAD_BLOCKED:
        return LIVE_BLOCKED;
    case THREAD_SUSPENDED:
        return LIVE_SUSPENDED;
    case THREAD_LENDING:
        return LIVE_LENDING;
    case THREAD_RUNNABLE:
    case THREAD_MARKED:
    case THREAD_POSTPONED:
    case THREAD_ENDED:
    case SCHEDULER_RUNNABLE:
        break;
    }
    return runs(thread) ? LIVE_RUNNING : LIVE_READY;
}

static void add_thread(struct live_request *request, struct dispatcher_thread *t) {
    struct live_thread *one = &request->threads[request->count];
    const struct member *thread = member_of(t), *other = member_waited_for(thread);
    enum live_state state = state_of(t);
    bool waits = state == LIVE_BLOCKED || state == LIVE_LENDING;
    *one = (struct live_thread){.number = t->policy.number,
                                .state = (uint8_t)state,
                                .scheduler = number_of(t->scheduler),
                                .consumed = t->consumed,
                                .instant = waits && timer_is_set(&t->timer) ? t->timer.instant : INT64_MAX,
                                .waits_for = waits && other ? other->dispatched.policy.number : 0};
    text_format(one->name, sizeof one->name, "%s", thread->name);
    if (waits || state == LIVE_SUSPENDED)
        text_format(one->wait, sizeof one->wait, "%s", runtime.face->describe_wait(thread));
}

static void look(struct live_request *request) {
    uint32_t number = 0;
    bool counted = dispatcher_counts_consumed();
    request->head_length = 0;
    request->count = 0;
    if (counted && dispatcher_first_thread())
        dispatcher_consumed_by(dispatcher_first_thread()); /* charges all that run, up to now */
    add(request, "process %d %" PRIu64 " %d %" PRId64 "\n", runtime.processors, dispatcher_decided(), counted,
        catapults_now());
    for (struct scheduler *one = dispatcher_root(); one; one = dispatcher_next_scheduler(one), number++) {
        if (one->removed)
            continue;
        const struct catapults_policy *policy = one->policy;
        add(request, "scheduler %" PRIu32 " %" PRIu32 " %s\t%s\t%s\n", number, number_of(one->parent),
            one->name ? one->name : "", policy->name, policy->source);
        add_imports(request, one, number);
    }
    for (struct dispatcher_thread *t = dispatcher_first_thread(); t; t = dispatcher_next_thread(t)) {
        if (request->count < request->room)
            add_thread(request, t);
        request->count++;
    }
}

/* ---- Changes ----------------------------------------------------------------------------------------------------- */

/* Where the policy reads it: the application's own variable, or what stands in for that. */
static void assign(const struct catapults_import *import, char *base, uint64_t bits) {
    void *place = *(void **)(base + import->pointer);
    if (import->type == CATAPULTS_IMPORT_BOOL)
        __atomic_store_n((bool *)place, bits != 0, __ATOMIC_RELAXED);
    else
        __atomic_store_n((uint64_t *)place, bits, __ATOMIC_RELAXED);
}

/* NULL: it can be set; else why not. */
static const char *why_not(const struct catapults_import *import, const struct live_request *request, char *text) {
    bool per_thread = request->thread != 0;
    if (!import)
        text_format(text, LIVE_TEXT, "no policy there has the variable `%s`", request->name);
    else if ((int)import->type != request->type)
        text_format(text, LIVE_TEXT, "`%s` is of the type %s", request->name, types[import->type]);
    else if (imports_is_kept(import, per_thread))
        text_format(text, LIVE_TEXT, "the runtime itself keeps `%s`", request->name);
    else
        return NULL;
    return text;
}

static const char *set_of_thread(const struct live_request *request, char *text) {
    struct dispatcher_thread *t = dispatcher_first_thread();
    while (t && t->policy.number != request->thread)
        t = dispatcher_next_thread(t);
    if (!t)
        return "there is no such thread any more";
    const struct catapults_import *import = imports_find(t->scheduler->policy, true, request->name);
    const char *wrong = why_not(import, request, text);
    if (wrong)
        return wrong;
    assign(import, (char *)&t->policy, request->bits);
    dispatcher_tell_changed(t);
    return NULL;
}

/* Of all policies that have it. */
static const char *set(const struct live_request *request, char *text) {
    if (request->thread)
        return set_of_thread(request, text);
    const char *wrong = why_not(NULL, request, text);
    for (struct scheduler *one = dispatcher_root(); one; one = dispatcher_next_scheduler(one)) {
        const struct catapults_import *import = one->removed ? NULL : imports_find(one->policy, false, request->name);
        if (!import)
            continue;
        wrong = why_not(import, request, text);
        if (wrong)
            return wrong;
        assign(import, imports_of(one), request->bits);
    }
    return wrong;
}

static const char *replace(const struct live_request *request, char *text) {
    struct refusal refusal;
    switch (scheduler_replace_root(request->policy, &refusal)) {
    case 0:
        return NULL;
    case ENOSPC:
        return "its threads need more room than the threads that there are have";
    case ENOTSUP:
        return "it has an instance for each node, or the policy there has, and there are other schedulers";
    case ENOMEM:
        return "there is no memory for it";
    case EAGAIN:
        text_format(text, LIVE_TEXT, "it refuses a thread: %s", refusal.text);
        return text;
    default:
        return "a variable that the program registers has another type in it";
    }
}
