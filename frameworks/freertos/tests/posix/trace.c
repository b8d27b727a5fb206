/*
 * Called in the kernel, also by the handler of the tick's signal: no libc, and nothing that could block.
 */
#include "trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "FreeRTOS.h"
#include "task.h"

#ifndef TRACE_SIZE
#define TRACE_SIZE (8u << 20)
#endif
static char text[TRACE_SIZE];
static size_t length;
static bool ended;

static void add(const char *word) {
    for (; *word && !ended && length < sizeof text - 1; word++)
        text[length++] = *word;
}

static void add_number(long long number) {
    char digits[24], *first = digits + sizeof digits - 1;
    unsigned long long rest = number < 0 ? 0 - (unsigned long long)number : (unsigned long long)number;
    *first = 0;
    do
        *--first = (char)('0' + rest % 10);
    while (rest /= 10);
    if (number < 0)
        *--first = '-';
    add(first);
}

#define ADD_int(value) add_number(value)
#define ADD_bool(value) add((value) ? "true" : "false")
#define ADD_time(value) (add_number(value), add("ns"))

/* What imported variables were when the trace last said so. Names can be those of macros: they are only pasted. */
#define KNOWN(name, type) VALUE_##type its_##name;
#define VALUE_int catapults_int
#define VALUE_bool bool
#define VALUE_time int64_t
static struct {
    char none;
    CATAPULTS_IMPORTS(KNOWN)
} known;
#define MOST_THREADS 4096
static struct {
    struct catapults_thread *thread; /* NULL: gone */
    CATAPULTS_THREADIMPORTS(KNOWN)
} threads[MOST_THREADS + 1];
static uint32_t youngest;

/* The variables that have changed; a thread that has just come has those of its birth, which are its defaults. */
static void look(bool write) {
    (void)known, (void)write;
#define LOOK(name, type)                                                                                               \
    if (known.its_##name != CATAPULTS_IMPORT_##name) {                                                                 \
        known.its_##name = CATAPULTS_IMPORT_##name;                                                                    \
        if (write)                                                                                                     \
            add("set_import " #name " "), ADD_##type(known.its_##name), add("\n");                                     \
    }
    CATAPULTS_IMPORTS(LOOK)
    for (uint32_t i = 1; i <= youngest; i++) {
        struct catapults_thread *t = threads[i].thread;
        if (!t)
            continue;
#define LOOK_AT_THREAD(name, type)                                                                                     \
    if (threads[i].its_##name != CATAPULTS_THREADIMPORT_##name(t)) {                                                   \
        threads[i].its_##name = CATAPULTS_THREADIMPORT_##name(t);                                                      \
        if (write)                                                                                                     \
            add("set_thread_import "), add_number(i), add(" " #name " "), ADD_##type(threads[i].its_##name),           \
                add("\n");                                                                                             \
    }
        CATAPULTS_THREADIMPORTS(LOOK_AT_THREAD)
    }
}

static CATAPULTS_THREAD newborn;

static const struct catapults_timer *expiring;
static uint32_t expires_of; /* whose it is: the handler can end the thread */

__attribute__((unused)) static void trace_at(int64_t now) {
    static int64_t last;
    if (last == now)
        return;
    last = now;
    add("at "), add_number(now), add("ns\n");
}

void trace_step(const char *event, struct catapults_thread *thread) {
    static bool any;
    if (!any) {
        any = true;
        look(false);
    }
#ifdef CATAPULTS_NOW
    trace_at(CATAPULTS_NOW);
#endif
    if (thread && thread->number > youngest && thread->number <= MOST_THREADS) {
        youngest = thread->number;
        CATAPULTS_ADOPT(&newborn);
#define BORN(name, type) threads[youngest].its_##name = CATAPULTS_THREADIMPORT_##name(&newborn);
        CATAPULTS_THREADIMPORTS(BORN)
        threads[youngest].thread = thread;
    }
    look(true);
    add(event);
    if (thread)
        add(" "), add_number(thread->number);
    if (thread && (strcmp(event, "exit") == 0 || strcmp(event, "cancel") == 0))
        threads[thread->number].thread = NULL;
}

#ifdef CATAPULTS_TIMERS
void trace_expire(int64_t now, const struct catapults_timer *timer) {
    trace_at(now);
    expiring = timer;
    expires_of = timer->thread->number;
    trace_step("expire", NULL);
}
#endif

void trace_done(void) {
#ifdef CATAPULTS_TIMERS
#define NAME(name) name,
    static const char *const names[] = {CATAPULTS_TIMEOUTS(NAME)};
    if (expiring)
        add(" -> "), add(names[expiring->timeout]), add(" "), add_number(expires_of);
#endif
    expiring = NULL;
    (void)expires_of;
    add("\n");
    look(false); /* what the policy has assigned it assigns wherever the trace is replayed */
}

void trace_chosen(struct catapults_thread *thread) {
    if (thread)
        add(" -> "), add_number(thread->number);
    add("\n");
    look(false);
}

void trace_stopped(const struct catapults_stop *stop) {
    if (stop->why == CATAPULTS_STOP_GUARD) {
        add(" -> guard "), add_number(stop->line), add(" "), add(stop->text), add("\n");
        return;
    }
    /* Only a new thread can be refused. */
    threads[youngest].thread = NULL;
    add(" -> fail "), add(stop->text), add("\n");
    look(false);
}

const char *trace_since(void) {
    static size_t last;
    static char since[1024];
    taskENTER_CRITICAL();
    size_t count = length - last < sizeof since ? length - last : sizeof since - 1;
    memcpy(since, text + last, count);
    since[count] = 0;
    last = length;
    taskEXIT_CRITICAL();
    return since;
}

void trace_end(void) {
    taskENTER_CRITICAL(); /* nobody else is to do it, too */
    ended = true;
    for (size_t written = 0; written < length;) {
        ssize_t more = write(STDOUT_FILENO, text + written, length - written);
        if (more <= 0)
            _exit(3);
        written += (size_t)more;
    }
    _exit(0);
}

void test_assertion(const char *file, int line, const char *what) {
    fprintf(stderr, "%s:%d: %s\n", file, line, what);
    abort();
}
