/*
 * What is measured of every thread library, once: the same loops for all that are written in C or C++. Those in Go and
 * Rust have theirs beside them and follow this file.
 *
 *   program               says its name and version, then its loops, one a line
 *   program LOOP [COUNT]  runs one: lines of a name and a number, nanoseconds for each operation unless the name says
 *                         otherwise. COUNT is of operations in all.
 *
 * A library defines, before it includes this:
 *
 *   PEER_NAME, VERSION                         strings
 *   peer_thread, peer_mutex, peer_cond         types
 *   peer_start()                               called once
 *   peer_create(thread, start, argument), peer_join(thread), peer_yield()
 *   peer_mutex_init(mutex), peer_lock(mutex), peer_unlock(mutex)
 *   peer_cond_init(cond), peer_wait(cond, mutex), peer_signal(cond), peer_broadcast(cond)
 *
 * and what it has of these, with a macro that says so:
 *
 *   PEER_PRIORITIES    peer_create_at(thread, start, argument, level): levels 0 to 7, the highest first
 *   PEER_AGES          but who waits for long rises
 *   ONLY_PRIORITIES    nothing else is to be measured
 *   CONTENDED          contended_lock(mutex), contended_unlock(mutex): instead, where threads wait for it
 *   PEER_ENDS          peer_ends(): a thread that yielded ends
 *
 * All runs on one processor. Threads may be preempted at any time all the same, so what they share is atomic.
 */
#ifndef LOOPS_H
#define LOOPS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LEVELS = 8, LOCKERS = 100 };

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void report(const char *name, double value) { printf("%s %.3f\n", name, value); }

__attribute__((noreturn)) static void fail(const char *why) {
    fprintf(stderr, "%s: %s\n", PEER_NAME, why);
    _exit(EXIT_FAILURE);
}

static long add(long *variable) { return __atomic_add_fetch(variable, 1, __ATOMIC_RELAXED); }
static long get(const long *variable) { return __atomic_load_n(variable, __ATOMIC_RELAXED); }
/* Cheaper than add(), and as good where a lost count does no harm. */
static void add_about(long *variable) { __atomic_store_n(variable, get(variable) + 1, __ATOMIC_RELAXED); }

static peer_thread *new_threads(long count) {
#ifdef __cplusplus
    return new peer_thread[(size_t)count];
#else
    peer_thread *threads = (peer_thread *)malloc((size_t)count * sizeof(peer_thread));
    if (!threads)
        fail("no memory");
    memset(threads, 1, (size_t)count * sizeof(peer_thread)); /* its pages are there before the first is measured */
    return threads;
#endif
}

/* A gate through which all threads go when the last has come. What is measured starts then. */
static struct {
    long threads, arrived, ended;
    int64_t start, end;
} gate;

static void gate_init(long threads) {
    memset(&gate, 0, sizeof gate);
    gate.threads = threads;
}

static void gate_pass(void) {
    if (add(&gate.arrived) == gate.threads)
        gate.start = now();
    while (get(&gate.arrived) < gate.threads)
        peer_yield();
}

static void gate_end(void) {
    if (add(&gate.ended) == gate.threads)
        gate.end = now();
#ifdef PEER_ENDS
    peer_ends();
#endif
}

/* ---- Yield among 2, 100 and 10,000 threads ----------------------------------------------------------------------- */

static long turns, turns_each;

static void *yielder(void *argument) {
    gate_pass();
    for (long i = 0; i < turns_each; i++) {
        add_about(&turns);
        peer_yield();
    }
    /* Who is through with its share has let the others take theirs: a yield that does not switch is no yield. */
    if (get(&turns) - turns_each < turns_each / 2 * (gate.threads - 1))
        fail("a yield lets nobody else run");
    gate_end();
    return argument;
}

static void yield_among(const char *name, long threads, long count) {
    peer_thread *all = new_threads(threads);
    gate_init(threads);
    turns = 0;
    turns_each = count / threads > 0 ? count / threads : 1;
    for (long i = 0; i < threads; i++)
        peer_create(&all[i], yielder, NULL);
    for (long i = 0; i < threads; i++)
        peer_join(&all[i]);
    report(name, (double)(gate.end - gate.start) / (double)(threads * turns_each));
}

static void yield_2(long count) { yield_among("yield_2", 2, count); }
static void yield_100(long count) { yield_among("yield_100", 100, count); }
static void yield_10000(long count) { yield_among("yield_10000", 10000, count); }

/* ---- Create and join, one by one --------------------------------------------------------------------------------- */

static void *nothing(void *argument) { return argument; }

static void create_join(long count) {
    peer_thread *thread = new_threads(1);
    int64_t start = now();
    for (long i = 0; i < count; i++) {
        peer_create(thread, nothing, NULL);
        peer_join(thread);
    }
    report("create_join", (double)(now() - start) / (double)count);
}

/* ---- A mutex that is free, while a second thread is alive and blocked -------------------------------------------- */

static peer_mutex shared, other;
static peer_cond changed;
static long state;

static void *waiter(void *argument) {
    peer_lock(&other);
    add(&gate.arrived);
    while (state == 0)
        peer_wait(&changed, &other);
    peer_unlock(&other);
    return argument;
}

static void mutex(long count) {
    peer_thread *thread = new_threads(1);
    gate_init(1);
    state = 0;
    peer_create(thread, waiter, NULL);
    while (get(&gate.arrived) == 0)
        peer_yield();
    int64_t start = now();
    for (long i = 0; i < count; i++) {
        peer_lock(&shared);
        peer_unlock(&shared);
    }
    report("mutex", (double)(now() - start) / (double)count);
    peer_lock(&other);
    state = 1;
    peer_signal(&changed);
    peer_unlock(&other);
    peer_join(thread);
}

/* ---- A turn handed to and fro by a condition --------------------------------------------------------------------- */

static long trips;

static void *player(void *argument) {
    long side = argument != NULL;
    gate_pass();
    peer_lock(&shared);
    for (long i = 0; i < trips; i++) {
        while (state != side)
            peer_wait(&changed, &shared);
        state = !side;
        peer_signal(&changed);
    }
    peer_unlock(&shared);
    gate_end();
    return argument;
}

static void condition(long count) {
    peer_thread *all = new_threads(2);
    gate_init(2);
    state = 0;
    trips = count;
    peer_create(&all[0], player, NULL);
    peer_create(&all[1], player, &trips);
    peer_join(&all[0]);
    peer_join(&all[1]);
    report("condition", (double)(gate.end - gate.start) / (double)(2 * trips)); /* half a round trip */
}

/* ---- One lock for a hundred threads ------------------------------------------------------------------------------ */

#ifndef CONTENDED
#define contended_lock peer_lock
#define contended_unlock peer_unlock
#endif

static long counted;

static void *locker(void *argument) {
    bool held = argument != NULL; /* while it yields */
    gate_pass();
    for (long i = 0; i < turns_each; i++) {
        contended_lock(&shared);
        counted++;
        if (held)
            peer_yield();
        contended_unlock(&shared);
        if (!held)
            peer_yield();
    }
    gate_end();
    return argument;
}

static void lock_among(const char *name, long count, bool held) {
    peer_thread *all = new_threads(LOCKERS);
    gate_init(LOCKERS);
    counted = 0;
    turns_each = count / LOCKERS > 0 ? count / LOCKERS : 1;
    for (long i = 0; i < LOCKERS; i++)
        peer_create(&all[i], locker, held ? &counted : NULL);
    for (long i = 0; i < LOCKERS; i++)
        peer_join(&all[i]);
    if (counted != LOCKERS * turns_each)
        fail("a lock that two threads had at once");
    report(name, (double)(gate.end - gate.start) / (double)counted);
}

static void lock(long count) { lock_among("lock", count, false); }
static void lock_held(long count) { lock_among("lock_held", count, true); }

/* ---- Yield among 10,000 threads of eight priorities -------------------------------------------------------------- */

#ifdef PEER_PRIORITIES

/* Those of the highest level go round until they are through; then those of the next. None runs before all are there.
 */
static void *ranked(void *argument) {
    if (gate.start == 0) {
        gate.start = now();
        if (gate.arrived < gate.threads)
            fail("a thread ran before its creator had given up the processor");
    }
    for (long i = 0; i < turns_each; i++) {
        add_about(&turns);
        peer_yield();
    }
#ifndef PEER_AGES
    if (get(&turns) > turns_each * (gate.threads / LEVELS) * (LEVELS - (long)(intptr_t)argument))
        fail("a thread ran before all of higher priority were through");
#endif
    if (get(&turns) - turns_each < turns_each / 2 * (gate.threads / LEVELS - 1))
        fail("a yield lets nobody else run");
    gate_end();
    return argument;
}

static void priority(long count) {
    enum { THREADS = 10000 };
    peer_thread *all = new_threads(THREADS);
    gate_init(THREADS);
    turns = 0;
    turns_each = count / THREADS > 0 ? count / THREADS : 1;
    for (long i = 0; i < THREADS; i++) {
        peer_create_at(&all[i], ranked, (void *)(intptr_t)(i % LEVELS), (int)(i % LEVELS));
        gate.arrived++;
    }
    for (long i = 0; i < THREADS; i++)
        peer_join(&all[i]);
    report("priority", (double)(gate.end - gate.start) / (double)(THREADS * turns_each));
}

#endif

/* ---- Memory of an idle thread: it has run, and waits for a condition --------------------------------------------- */

/* A number of bytes out of a file of the kernel. */
static double kernel_says(const char *file, const char *name) {
    char line[256];
    double kilobytes = 0;
    FILE *open = fopen(file, "r");
    while (open && fgets(line, sizeof line, open))
        if (strncmp(line, name, strlen(name)) == 0)
            kilobytes = strtod(line + strlen(name), NULL);
    if (open)
        fclose(open);
    return kilobytes * 1024;
}

static void *idler(void *argument) {
    peer_lock(&shared);
    add(&gate.arrived);
    while (state == 0)
        peer_wait(&changed, &shared);
    peer_unlock(&shared);
    return argument;
}

/* COUNT of threads. What a page holds that is in use counts, and the tables that the kernel keeps of pages; beside
 * these, stacks within the kernel, of all processes. */
static void memory(long count) {
    static const char process[] = "/proc/self/status", machine[] = "/proc/meminfo";
    peer_thread *all = new_threads(count);
    gate_init(count);
    state = 0;
    double resident = kernel_says(process, "VmRSS:"), tables = kernel_says(process, "VmPTE:");
    double stacks = kernel_says(machine, "KernelStack:");
    int64_t start = now();
    for (long i = 0; i < count; i++)
        peer_create(&all[i], idler, NULL);
    report("create", (double)(now() - start) / (double)count);
    while (get(&gate.arrived) < count)
        peer_yield();
    report("resident_bytes", (kernel_says(process, "VmRSS:") - resident) / (double)count);
    report("table_bytes", (kernel_says(process, "VmPTE:") - tables) / (double)count);
    report("kernel_stack_bytes", (kernel_says(machine, "KernelStack:") - stacks) / (double)count);
    peer_lock(&shared);
    state = 1;
    peer_broadcast(&changed);
    peer_unlock(&shared);
    for (long i = 0; i < count; i++)
        peer_join(&all[i]);
}

/* ---- Which there are --------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    void (*run)(long count);
    long count; /* of operations, unless told */
} loops[] = {
    {"yield_2", yield_2, 2000000},
    {"yield_100", yield_100, 2000000},
    {"yield_10000", yield_10000, 2000000},
    {"create_join", create_join, 100000},
    {"mutex", mutex, 10000000},
    {"condition", condition, 200000},
    {"lock", lock, 200000},
    {"lock_held", lock_held, 200000},
    {"memory", memory, 10000},
#ifdef PEER_PRIORITIES
    {"priority", priority, 2000000},
#endif
};

int main(int arguments, char **argument) {
    const int number = sizeof loops / sizeof *loops;
    if (arguments < 2) {
        printf("%s %s\n", PEER_NAME, VERSION);
        for (int i = 0; i < number; i++) {
#ifdef ONLY_PRIORITIES
            if (strcmp(loops[i].name, "priority") != 0)
                continue;
#endif
            printf("%s %ld\n", loops[i].name, loops[i].count);
        }
        return EXIT_SUCCESS;
    }
    for (int i = 0; i < number; i++)
        if (strcmp(loops[i].name, argument[1]) == 0) {
            peer_start();
            peer_mutex_init(&shared);
            peer_mutex_init(&other);
            peer_cond_init(&changed);
            loops[i].run(arguments > 2 ? strtol(argument[2], NULL, 10) : loops[i].count);
            fflush(stdout);
            _exit(EXIT_SUCCESS); /* what the library does at the end of its process is not measured */
        }
    fail("no such loop");
}

#endif
