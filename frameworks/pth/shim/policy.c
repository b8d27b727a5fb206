/*
 * Raises events, and what happens when a guard fails: Pth's queues hold every thread at any moment, so that its own
 * scheduler goes on with them.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "catapults/place.h"
#include "catapults/random.h"
#include "catapults_pth.h"
#include "shim/shim.h"

struct shim shim;

/* Of the per-thread import `consumed`: how long each thread has run, which the shim keeps itself; or NULL. */
static const struct catapults_import *consumed;
static catapults_time told;

catapults_time clock_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now); /* every Linux has it */
    return (catapults_time)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Before an event: what time it is, and how long the running thread has run. */
static void tell(const char *event, const struct record *record) {
    catapults_time now = 0;
    if (shim.policy->now || consumed) {
        now = clock_now();
        if (shim.policy->now)
            memcpy((char *)shim.instance + shim.policy->now, &now, sizeof now);
        if (consumed && shim.running)
            *(catapults_time *)((char *)&shim.running->policy + consumed->fallback) += now - told;
        told = now;
    }
    if (tracing())
        trace_step(event, record, now);
}

static void *handler(struct event event) {
    void *function;
    memcpy(&function, (const char *)shim.handlers + event.handler, sizeof function);
    return function;
}

void policy_raise(struct event event, struct record *record) {
    pth_thread_event_handler *function = (pth_thread_event_handler *)handler(event);
    if (!function)
        return;
    tell(event.name, record);
    const struct catapults_stop *stop = function(shim.instance, &record->policy);
    if (!stop) {
        if (tracing())
            trace_done();
        if (recording())
            recording_raised(event.handler, record);
        return;
    }
    if (tracing())
        trace_stopped(stop);
    policy_contain(event.name, stop, NULL);
}

void policy_changed(struct record *record) {
    if (record->place != NOWHERE && record->place != IS_DEAD)
        policy_raise(EVENT("changed", changed), record);
}

bool policy_admit(struct record *record) {
    record->priority = record->thread->prio;
    shim.policy->adopt(shim.instance, &record->policy);
    record->object = shim.object;
    imports_link(record);
    tell("newthread", record);
    const struct catapults_stop *stop = shim.handlers->newthread(shim.instance, &record->policy);
    if (!stop) {
        if (tracing())
            trace_done();
        if (recording())
            recording_new(record);
        return true;
    }
    if (tracing())
        trace_stopped(stop);
    if (stop->why == CATAPULTS_STOP_FAIL) {
        if (record_oldest() == record)
            report("policy %s refuses the first thread (%s:%" PRIu32 "): %s", shim.policy->name, shim.policy->source,
                   stop->line, stop->text);
        if (recording())
            recording_refused(record);
        shim.refused = stop;
        return false;
    }
    policy_contain("newthread", stop, NULL);
    return true;
}

struct record *policy_choose(void) {
    const struct catapults_stop *stop = NULL;
    tell("schedule", NULL);
    struct catapults_thread *t = shim.handlers->schedule(shim.instance, &stop);
    if (consumed)
        told = clock_now();
    if (tracing()) {
        if (stop)
            trace_stopped(stop);
        else
            trace_chosen(t ? record_in(t) : NULL);
    }
    if (stop)
        policy_contain("schedule", stop, NULL);
    else if (!t)
        policy_contain("schedule", NULL, "it dispatched nothing although a thread is ready");
    else if (record_in(t)->place != IS_READY)
        policy_contain("schedule", NULL, "it dispatched a thread that is not ready");
    else {
        if (recording())
            recording_dispatched(record_in(t));
        return record_in(t);
    }
    return NULL;
}

void policy_contain(const char *event, const struct catapults_stop *stop, const char *text) {
    const struct catapults_policy *policy = shim.policy;
    unsigned count = 0;
    for (const struct record *record = record_oldest(); record; record = record->newer)
        count += record->place != NOWHERE && record->place != IS_DEAD;
    char what[512], place[128];
    if (!stop)
        snprintf(what, sizeof what, "rule of %s broken in `%s` at %s: %s", policy->framework, event,
                 catapults_place_of(policy, event, place, sizeof place), text);
    else if (stop->why == CATAPULTS_STOP_FAIL)
        snprintf(what, sizeof what, "`fail` at %s:%" PRIu32 " in `%s`, which may not fail: %s",
                 catapults_file_name(policy), stop->line, event, stop->text);
    else
        snprintf(what, sizeof what, "guard failed at %s:%" PRIu32 ": %s", catapults_file_name(policy), stop->line,
                 stop->text);
    report("policy %s: %s; %u thread%s under Pth's own scheduler", policy->name, what, count,
           count == 1 ? " continues" : "s continue");
    if (recording())
        recording_policy_out(stop);
    shim.policy = NULL;
    shim.running = NULL;
    /* The ready threads have one priority there: each gets its own again, and those of one keep their order. */
    struct pth_queue waiting = {0};
    pth_t thread;
    while ((thread = library.delmax(library.ready)))
        library.insert(&waiting, 0, thread);
    while ((thread = library.delmax(&waiting)))
        library.insert(library.ready, thread->prio, thread);
}

/* What the environment asks for, else what policies begin with. */
static uint64_t seed(void) {
    const char *text = environment("CATAPULTS_RANDOM_SEED");
    if (!text || !*text)
        return CATAPULTS_RANDOM_SEED;
    char *end;
    errno = 0;
    unsigned long long seed = strtoull(text, &end, 10);
    if (*end || errno || seed == 0 || *text < '0' || *text > '9') {
        report("CATAPULTS_RANDOM_SEED is \"%s\": it must be a number from 1 to %" PRIu64, text, UINT64_MAX);
        return CATAPULTS_RANDOM_SEED;
    }
    return seed;
}

void policy_start(void) {
    shim = (struct shim){0};
    consumed = NULL;
    const char *name = environment("PTH_SCHED");
    if (!name || !*name)
        return;
    const struct catapults_policy *policy = load(name);
    size_t size = ((size_t)policy->instance_size + 15) & ~(size_t)15;
    shim.instance = aligned_alloc(16, size ? size : 16);
    if (!shim.instance) {
        report("no memory for the policy %s", name);
        exit(EXIT_FAILURE);
    }
    memset(shim.instance, 0, size);
    shim.policy = policy;
    shim.handlers = policy->handlers;
    shim.strict = environment_switch("PTH_SCHED_STRICT");
    for (uint32_t i = 0; i < policy->thread_imports_count; i++)
        if (policy->thread_imports[i].type == CATAPULTS_IMPORT_TIME &&
            strcmp(policy->thread_imports[i].name, "consumed") == 0)
            consumed = &policy->thread_imports[i];
    policy->start(shim.instance);
    shim.seed = seed();
    if (policy->random)
        catapults_random_seed((struct catapults_random *)((char *)shim.instance + policy->random), shim.seed);
    imports_start();
    trace_start();
    recording_start();
    if (!shim.handlers->init)
        return;
    tell("init", NULL);
    const struct catapults_stop *stop = shim.handlers->init(shim.instance);
    if (tracing()) {
        if (stop)
            trace_stopped(stop);
        else
            trace_done();
    }
    if (stop)
        policy_contain("init", stop, NULL);
}

void policy_end(void) {
    free(shim.instance);
    shim = (struct shim){0};
    trace_stop();
    recording_stop();
}

/* ---- For those who ask --------------------------------------------------------------------------------------------
 */

/* A question is no event, but its answer may depend on the same things. */
static void tell_asked(const char *query, const struct record *record) {
    char text[64];
    snprintf(text, sizeof text, "ask %s", query);
    tell(text, record);
}

bool policy_asks_ready(const struct record *record, bool can_switch_to) {
    tell_asked(can_switch_to ? "can_switch_to" : "is_ready", record);
    bool answer = can_switch_to ? shim.handlers->can_switch_to(shim.instance, &record->policy)
                                : shim.handlers->is_ready(shim.instance, &record->policy);
    if (tracing())
        trace_answer(answer ? "true" : "false");
    return answer;
}

static int64_t ask(const char *query, int64_t (*handler)(const void *)) {
    tell_asked(query, NULL);
    int64_t answer = handler(shim.instance);
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, answer);
    if (tracing())
        trace_answer(text);
    return answer;
}

const char *pth_sched_name(void) { return shim.policy ? shim.policy->name : NULL; }

int64_t pth_sched_threads_ready(void) { return shim.policy ? ask("threads_ready", shim.handlers->threads_ready) : -1; }

int64_t pth_sched_threads_suspended(void) {
    return shim.policy ? ask("threads_suspended", shim.handlers->threads_suspended) : -1;
}

int64_t pth_sched_threads_total(void) { return shim.policy ? ask("threads_total", shim.handlers->threads_total) : -1; }

bool pth_sched_is_ready(pth_t thread) {
    const struct record *record = shim.policy && thread ? record_of(thread) : NULL;
    return record && record->place != IS_DEAD && policy_asks_ready(record, false);
}
