/*
 * The host: a context for each thread, and one, that of relay_run, which asks the policy what is next.
 *
 * Every change of a thread's state is an event, and nothing else is. Which threads are ready and which runs is read
 * from the containers that hold them. RELAY_TRACE names a file for all steps and decisions, which the interpreter can
 * follow.
 */
#define _GNU_SOURCE
#include "relay.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <ucontext.h>

#include "relay_policy.h"

enum { MOST = 64, STACK = 64 * 1024 }; /* `capacity threads` in relay.framework */

/* ---- 1. The record of a thread: the policy's part comes last, as its attributes follow it in memory ----------------
 */

struct relay {
    ucontext_t context;
    void (*start)(void *);
    void *argument, *stack;
    struct catapults_thread policy;
};

extern const struct catapults_policy catapults_policy;
static const struct relay_handlers *handlers;
static void *instance;
static struct relay *threads[MOST], *running, *ended;
static ucontext_t decider;
static FILE *trace;

static struct relay *record_of(struct catapults_thread *t) {
    return (struct relay *)((char *)t - offsetof(struct relay, policy));
}

/* ---- 2. The policy is set up once
 * ------------------------------------------------------------------------------------ */

static void fail(const char *why, const struct catapults_stop *stop) {
    fprintf(stderr, "relay: policy %s: %s", catapults_policy.name, why);
    if (stop)
        fprintf(stderr, " at %s:%u: %s", catapults_policy.source, (unsigned)stop->line, stop->text);
    fputc('\n', stderr);
    exit(1);
}

static void load(void) {
    if (catapults_policy.contract != CATAPULTS_CONTRACT || catapults_policy.framework_abi != RELAY_ABI)
        fail("made for another version", NULL);
    instance = aligned_alloc(16, catapults_policy.instance_size);
    if (!instance)
        fail("no memory", NULL);
    handlers = catapults_policy.handlers;
    catapults_policy.start(instance);
    if (getenv("RELAY_TRACE"))
        trace = fopen(getenv("RELAY_TRACE"), "w");
}

/* ---- 3. Events
 * ------------------------------------------------------------------------------------------------------- */

/* The policy sees one instant throughout a handler. */
static void tell_time(void) {
    struct timespec now;
    if (!catapults_policy.now)
        return;
    clock_gettime(CLOCK_MONOTONIC, &now);
    catapults_time *instant = (catapults_time *)((char *)instance + catapults_policy.now);
    *instant = (catapults_time)now.tv_sec * 1000000000 + now.tv_nsec;
    if (trace)
        fprintf(trace, "at %lldns\n", (long long)*instant);
}

/* False: the policy refuses. A guard that fails ends the program; a host with threads to lose has a scheduler of its
 * own. */
static bool raise_event(const char *name, relay_thread_event *event, struct relay *thread) {
    tell_time();
    const struct catapults_stop *stop = event(instance, &thread->policy);
    if (stop && stop->why == CATAPULTS_STOP_GUARD)
        fail("guard failed", stop);
    if (trace)
        fprintf(trace, stop ? "%s %u -> fail %s\n" : "%s %u\n", name, (unsigned)thread->policy.number,
                stop ? stop->text : "");
    return !stop;
}

static int count(enum catapults_class class) {
    int number = 0;
    for (int at = 0; at < MOST; at++)
        number += threads[at] && catapults_policy.classes[threads[at]->policy.container] == class;
    return number;
}

static struct relay *decide(void) {
    const struct catapults_stop *stop = NULL;
    tell_time();
    struct catapults_thread *next = handlers->schedule(instance, &stop);
    if (stop)
        fail("guard failed", stop);
    if (!next)
        fail("dispatched nothing", NULL);
    if (trace)
        fprintf(trace, "schedule -> %u\n", (unsigned)next->number);
    return record_of(next);
}

/* After every event but schedule: who does not run any more leaves the processor. So does who was preempted. */
static void give_way(void) {
    if (running && catapults_policy.classes[running->policy.container] != CATAPULTS_RUNNING)
        swapcontext(&running->context, &decider);
}

/* ---- 4. What programs call
 * ------------------------------------------------------------------------------------------- */

static void begin(void) {
    running->start(running->argument);
    raise_event("exit", handlers->exit, running);
    ended = running;
    setcontext(&decider);
}

static void forget(struct relay *thread) {
    threads[thread->policy.number - 1] = NULL;
    free(thread->stack);
    free(thread);
}

relay_t relay_create(void (*start)(void *), void *argument) {
    if (!instance)
        load();
    int at = 0;
    while (at < MOST && threads[at])
        at++;
    size_t size = offsetof(struct relay, policy) + catapults_policy.thread_size;
    struct relay *thread = at < MOST ? aligned_alloc(16, (size + 15) / 16 * 16) : NULL;
    if (!thread)
        return NULL;
    *thread = (struct relay){.start = start, .argument = argument, .stack = malloc(STACK)};
    if (!thread->stack || getcontext(&thread->context))
        fail("no memory", NULL);
    thread->context.uc_stack.ss_sp = thread->stack;
    thread->context.uc_stack.ss_size = STACK;
    makecontext(&thread->context, begin, 0);
    threads[at] = thread;
    thread->policy.number = (uint32_t)at + 1;
    catapults_policy.adopt(instance, &thread->policy);
    if (!raise_event("newthread", handlers->newthread, thread)) {
        forget(thread);
        return NULL;
    }
    give_way();
    return thread;
}

int relay_run(void) {
    int left = 0;
    while (count(CATAPULTS_READY) > 0) {
        running = decide();
        swapcontext(&decider, &running->context);
        running = NULL;
        if (ended)
            forget(ended);
        ended = NULL;
    }
    for (int at = 0; at < MOST; at++)
        left += threads[at] != NULL;
    if (trace)
        fclose(trace);
    return left;
}

relay_t relay_self(void) { return running; }

void relay_yield(void) {
    raise_event("switch_out", handlers->switch_out, running);
    give_way();
}

void relay_wait(void) {
    raise_event("block.wait", handlers->block_wait, running);
    give_way();
}

void relay_wake(relay_t thread) {
    /* The event's type is a promise: it is raised for threads that are BLOCKED. */
    if (catapults_policy.classes[thread->policy.container] != CATAPULTS_BLOCKED)
        return;
    raise_event("event_raised", handlers->event_raised, thread);
    give_way();
}
