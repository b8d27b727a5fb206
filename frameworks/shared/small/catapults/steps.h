/*
 * A host that does what a script says: raises the events that it reads, and answers each with a line
 * (docs/frameworks.md, "Taking steps"). There is no kernel: this is the policy by itself. The file that includes this
 * one defines raise_event(), with an EVENT line for each event of its framework.
 *
 * Where there is no standard input, that file defines STEPS_CONSOLE, STEPS_THREADS and the four functions of the
 * console before it includes this one.
 */
#ifndef CATAPULTS_STEPS_H
#define CATAPULTS_STEPS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CATAPULTS_TEXTS
#define CATAPULTS_DEFINE_INSTANCE
#include CATAPULTS_COMPILED_IN
#include "catapults/raise.h"

/* Raises an event other than `schedule` and those of timers; `t` is NULL if no thread was named. False: there is no
 * such event. */
static bool raise_event(const char *name, struct catapults_thread *t);

/* In raise_event(): an event of a thread, as scripts and as generated code name it. */
#define EVENT(text, member)                                                                                            \
    if (strcmp(name, text) == 0) {                                                                                     \
        raised(CATAPULTS_RAISE(member, t), t);                                                                         \
        return true;                                                                                                   \
    }

#ifndef STEPS_CONSOLE
#include <stdio.h>
#define STEPS_THREADS 4096
static void say(const char *text) { fputs(text, stdout); }
static void begin_answer(void) {}
static _Noreturn void end(uint8_t status) { exit(status); }
static bool read_line(char *line, size_t size) { return fgets(line, (int)size, stdin); }
#endif

static CATAPULTS_THREAD threads[STEPS_THREADS];
static bool known[STEPS_THREADS];
static bool come[STEPS_THREADS]; /* it is known, or it was */
static bool out;

static _Noreturn void fatal(const char *what, const char *which) {
    say("steps: ");
    say(what);
    say(": ");
    say(which);
    say("\n");
    end(2);
}

static void say_number(long number) {
    char digits[24], *first = digits + sizeof(digits) - 1;
    unsigned long rest = number < 0 ? 0 - (unsigned long)number : (unsigned long)number;
    *first = 0;
    do
        *--first = (char)('0' + rest % 10);
    while (rest /= 10);
    if (number < 0)
        *--first = '-';
    say(first);
}

static void say_truth(bool truth) { say(truth ? "true" : "false"); }

/* ---- Threads, by the numbers of the script ----------------------------------------------------------------------- */

static void restart(void) {
    memset(known, 0, sizeof(known));
    memset(come, 0, sizeof(come));
    out = false;
    CATAPULTS_START();
}

/* A thread that is not known is set up. What is imported of it is the application's, and stays as it was. */
static void set_up(int number) {
    static CATAPULTS_THREAD before;
    before = threads[number], (void)before;
    memset(&threads[number], 0xa5, sizeof(threads[number]));
    CATAPULTS_ADOPT(&threads[number]);
#define KEEP(import, type) CATAPULTS_THREADIMPORT_##import(&threads[number]) = CATAPULTS_THREADIMPORT_##import(&before);
    if (come[number]) {
        CATAPULTS_THREADIMPORTS(KEEP)
    }
#ifdef CATAPULTS_TIMERS
    ((struct catapults_thread *)&threads[number])->number = (uint32_t)number; /* timers of one instant expire by it */
#endif
    known[number] = come[number] = true;
}

static struct catapults_thread *thread_of(const char *word) {
    int number = atoi(word);
    if (number < 0 || number >= STEPS_THREADS)
        fatal("thread number too high", word);
    if (!known[number])
        set_up(number);
    return (struct catapults_thread *)&threads[number];
}

static int number_of(const struct catapults_thread *t) { return (int)((const CATAPULTS_THREAD *)t - threads); }

/* A thread that is in no container is gone: destroyed, or refused. */
static void forget_gone(const struct catapults_thread *t) {
    if (t && t->container == 0)
        known[number_of(t)] = false;
}

/* ---- Events ------------------------------------------------------------------------------------------------------ */

static bool stopped(const struct catapults_stop *stop) {
    if (!stop)
        return false;
    out = stop->why == CATAPULTS_STOP_GUARD;
    if (out) {
        say("guard ");
        say_number(stop->line);
        say(" ");
    } else {
        say("fail ");
    }
    say(stop->text);
    return true;
}

static void raised(const struct catapults_stop *stop, const struct catapults_thread *t) {
    stopped(stop);
    forget_gone(t);
}

static void schedule(void) {
    const struct catapults_stop *stop = NULL;
#ifdef CATAPULTS_NEVER_STOPS_schedule
    struct catapults_thread *t = CATAPULTS_HANDLER_schedule();
#else
    struct catapults_thread *t = CATAPULTS_HANDLER_schedule(&stop);
#endif
    if (!stopped(stop) && t)
        say_number(number_of(t));
}

/* ---- Time -------------------------------------------------------------------------------------------------------- */

#ifdef CATAPULTS_HAS_TIME
__attribute__((unused)) static catapults_time time_of(const char *word) {
    static const struct unit {
        const char *name;
        catapults_time length;
    } units[] = {{"s", 1000000000}, {"ms", 1000000}, {"us", 1000}, {"ns", 1}};
    char *unit;
    catapults_time count = strtoll(word, &unit, 10);
    for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
        if (strcmp(units[i].name, unit) == 0)
            return count * units[i].length;
    fatal("no time", word);
}
#endif

#ifdef CATAPULTS_TIMERS
static catapults_time now;

static bool time_out(uint32_t timeout, struct catapults_thread *t) {
    bool goes_on = !stopped(CATAPULTS_EXPIRE(timeout, t));
    forget_gone(t);
    return goes_on;
}

#define TIMEOUT(name) name,
static const char *const timeouts[] = {CATAPULTS_TIMEOUTS(TIMEOUT)};
#endif

/* Expires the timer that is next, if its instant has come. */
static void expire(void) {
#ifdef CATAPULTS_TIMERS
    struct catapults_timer *first = CATAPULTS_TIMERS.first;
    if (first && first->instant <= now) {
        uint32_t timeout = first->timeout;
        int number = number_of(first->thread);
        if (time_out(timeout, first->thread)) {
            say(timeouts[timeout]);
            say(" ");
            say_number(number);
        }
        return;
    }
#endif
    say("nothing");
}

/* The event of a timer, raised by name. */
static bool raise_timeout(const char *name, const char *word) {
#ifdef CATAPULTS_TIMERS
    for (uint32_t i = 0; i < sizeof(timeouts) / sizeof(*timeouts); i++)
        if (word && strcmp(timeouts[i], name) == 0) {
            time_out(i, thread_of(word));
            return true;
        }
#endif
    (void)name, (void)word;
    return false;
}

/* Sets the time from here on. */
static void tell(const char *word) {
#ifdef CATAPULTS_NOW
    CATAPULTS_NOW = time_of(word);
#endif
#ifdef CATAPULTS_TIMERS
    now = time_of(word);
#endif
    (void)word;
}

/* ---- Queries and imported variables ------------------------------------------------------------------------------ */

static void ask(const char *name, const char *word) {
    if (strcmp(name, "threads_ready") == 0)
        say_number(CATAPULTS_HANDLER_threads_ready());
    else if (strcmp(name, "threads_suspended") == 0)
        say_number(CATAPULTS_HANDLER_threads_suspended());
    else if (strcmp(name, "threads_total") == 0)
        say_number(CATAPULTS_HANDLER_threads_total());
    else if (strcmp(name, "is_ready") == 0)
        say_truth(CATAPULTS_HANDLER_is_ready(thread_of(word)));
    else if (strcmp(name, "can_switch_to") == 0)
        say_truth(CATAPULTS_HANDLER_can_switch_to(thread_of(word)));
    else
        fatal("no such query", name);
}

#define VALUE_int(word) (catapults_int) atol(word)
#define VALUE_bool(word) (strcmp(word, "true") == 0)
#define VALUE_time(word) time_of(word)

static void set_import(const char *name, const char *value) {
#define GLOBAL(import, type)                                                                                           \
    if (strcmp(name, #import) == 0) {                                                                                  \
        CATAPULTS_IMPORT_##import = VALUE_##type(value);                                                               \
        return;                                                                                                        \
    }
    CATAPULTS_IMPORTS(GLOBAL)
    (void)value;
    fatal("the policy does not import", name);
}

static void set_thread_import(struct catapults_thread *t, const char *name, const char *value) {
#define OF_THREAD(import, type)                                                                                        \
    if (strcmp(name, #import) == 0) {                                                                                  \
        CATAPULTS_THREADIMPORT_##import(t) = VALUE_##type(value);                                                      \
        return;                                                                                                        \
    }
    CATAPULTS_THREADIMPORTS(OF_THREAD)
    (void)t, (void)value;
    fatal("the policy does not import", name);
}

/* ---- The script -------------------------------------------------------------------------------------------------- */

static void take_step(char **words) {
#define IS(step) (strcmp(words[0], step) == 0)
    if (IS("ask"))
        ask(words[1], words[2]);
    else if (IS("set_import"))
        set_import(words[1], words[2]);
    else if (IS("set_thread_import"))
        set_thread_import(thread_of(words[1]), words[2], words[3]);
    else if (IS("at"))
        tell(words[1]);
    else if (IS("expire"))
        expire();
    else if (IS("schedule"))
        schedule();
    else if (!raise_timeout(words[0], words[1]) && !raise_event(words[0], words[1] ? thread_of(words[1]) : NULL))
        fatal("no such event", words[0]);
}

int main(void) {
    static char line[128];
    restart();
    while (read_line(line, sizeof(line))) {
        char *words[4] = {NULL, NULL, NULL, NULL}, *rest = line;
        for (uint8_t i = 0; i < 4; i++) {
            words[i] = strtok(rest, " \n");
            rest = NULL;
        }
        if (!words[0])
            continue;
        if (IS("restart")) {
            restart();
            continue;
        }
        begin_answer();
        if (out)
            fatal("the policy is out", words[0]);
        take_step(words);
        say("\n");
    }
    end(0);
}

#endif
