/*
 * A host that does what a script says: raises the events that it reads, and answers each with a line, as
 * tests/run/driver.c does, whose lines and answers these are. There is no kernel: this is the policy by itself.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CATAPULTS_TEXTS
#define CATAPULTS_DEFINE_INSTANCE
#include CATAPULTS_COMPILED_IN
#include "catapults/raise.h"

#define THREADS 4096

static CATAPULTS_THREAD threads[THREADS];
static bool known[THREADS];
static bool out;

static _Noreturn void fatal(const char *what, const char *which) {
    fprintf(stderr, "steps: %s: %s\n", what, which);
    exit(2);
}

static void restart(void) {
    memset(known, 0, sizeof(known));
    out = false;
    CATAPULTS_START();
}

/* A thread that is not known is set up. */
static struct catapults_thread *thread_of(const char *word) {
    int number = atoi(word);
    if (number < 0 || number >= THREADS)
        fatal("thread number too high", word);
    if (!known[number]) {
        memset(&threads[number], 0xa5, sizeof(threads[number]));
        CATAPULTS_ADOPT(&threads[number]);
        threads[number].base.number = (uint32_t)number;
        known[number] = true;
    }
    return &threads[number].base;
}

static bool stopped(const struct catapults_stop *stop) {
    if (!stop)
        return false;
    out = true;
    printf("guard %u %s", (unsigned)stop->line, stop->text);
    return true;
}

/* A thread that is in no container is gone. */
static void raised(const struct catapults_stop *stop, struct catapults_thread *t) {
    if (!stopped(stop) && t && t->container == 0)
        known[t->number] = false;
}

static void schedule(void) {
    const struct catapults_stop *stop = NULL;
#ifdef CATAPULTS_NEVER_STOPS_schedule
    struct catapults_thread *t = CATAPULTS_HANDLER_schedule();
#else
    struct catapults_thread *t = CATAPULTS_HANDLER_schedule(&stop);
#endif
    if (!stopped(stop) && t)
        printf("%" PRIu32, t->number);
}

static bool raise_event(const char *name, const char *word) {
    struct catapults_thread *t = word ? thread_of(word) : NULL;
#define EVENT(text, member)                                                                                            \
    if (strcmp(name, text) == 0) {                                                                                     \
        raised(CATAPULTS_RAISE(member, t), t);                                                                         \
        return true;                                                                                                   \
    }
    if (strcmp(name, "schedule") == 0) {
        schedule();
        return true;
    }
#ifdef CATAPULTS_HANDLER_init
    if (strcmp(name, "init") == 0) {
        stopped(CATAPULTS_RAISE_ALONE(init));
        return true;
    }
#endif
    EVENT("newthread", newthread)
    EVENT("switch_out", switch_out)
    EVENT("block.sleep", block_sleep)
    EVENT("block.queue.send", block_queue_send)
    EVENT("block.queue.receive", block_queue_receive)
    EVENT("block.semaphore", block_semaphore)
    EVENT("block.lock", block_lock)
    EVENT("block.notification", block_notification)
    EVENT("block.event_group", block_event_group)
    EVENT("block.stream", block_stream)
    EVENT("event_raised", event_raised)
    EVENT("suspend_thread", suspend_thread)
    EVENT("resume_thread", resume_thread)
    EVENT("exit", exit)
    EVENT("cancel", cancel)
#ifdef CATAPULTS_HANDLER_set_next_thread
    EVENT("set_next_thread", set_next_thread)
#endif
#ifdef CATAPULTS_HANDLER_priority_changed
    EVENT("priority_changed", priority_changed)
#endif
    return false;
}

/* ---- Time ---------------------------------------------------------------------------------------------------------
 */

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

#ifdef CATAPULTS_TIMERS
static catapults_time now;

static bool time_out(uint32_t timeout, struct catapults_thread *t) {
    uint32_t number = t->number;
    bool goes_on = !stopped(CATAPULTS_EXPIRE(timeout, t));
    if (t->container == 0)
        known[number] = false;
    return goes_on;
}

#define TIMEOUT(name) name,
static const char *const timeouts[] = {CATAPULTS_TIMEOUTS(TIMEOUT)};
#endif

/* The timer that expires next does, if its instant has come. */
static void expire(void) {
#ifdef CATAPULTS_TIMERS
    struct catapults_timer *first = CATAPULTS_TIMERS.first;
    if (first && first->instant <= now) {
        uint32_t timeout = first->timeout, number = first->thread->number;
        if (time_out(timeout, first->thread))
            printf("%s %" PRIu32, timeouts[timeout], number);
        return;
    }
#endif
    fputs("nothing", stdout);
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

/* What time it is from here on. */
static void tell(const char *word) {
#ifdef CATAPULTS_NOW
    CATAPULTS_NOW = time_of(word);
#endif
#ifdef CATAPULTS_TIMERS
    now = time_of(word);
#endif
    (void)word;
}

/* ---- Queries and imported variables
 * ---------------------------------------------------------------------------------- */

static void ask(const char *name, const char *word) {
    if (strcmp(name, "threads_ready") == 0)
        printf("%" PRId32, CATAPULTS_HANDLER_threads_ready());
    else if (strcmp(name, "threads_suspended") == 0)
        printf("%" PRId32, CATAPULTS_HANDLER_threads_suspended());
    else if (strcmp(name, "threads_total") == 0)
        printf("%" PRId32, CATAPULTS_HANDLER_threads_total());
    else if (strcmp(name, "is_ready") == 0)
        fputs(CATAPULTS_HANDLER_is_ready(thread_of(word)) ? "true" : "false", stdout);
    else if (strcmp(name, "can_switch_to") == 0)
        fputs(CATAPULTS_HANDLER_can_switch_to(thread_of(word)) ? "true" : "false", stdout);
    else
        fatal("no such query", name);
}

#define VALUE_int(word) (catapults_int) strtoll(word, NULL, 10)
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

int main(void) {
    static char line[512];
    restart();
    while (fgets(line, sizeof(line), stdin)) {
        char *words[4] = {NULL, NULL, NULL, NULL}, *rest = line;
        for (int i = 0; i < 4; i++) {
            words[i] = strtok(rest, " \n");
            rest = NULL;
        }
        if (!words[0])
            continue;
        if (strcmp(words[0], "restart") == 0) {
            restart();
            continue;
        }
        if (out)
            fatal("the policy is out", words[0]);
        if (strcmp(words[0], "ask") == 0)
            ask(words[1], words[2]);
        else if (strcmp(words[0], "set_import") == 0)
            set_import(words[1], words[2]);
        else if (strcmp(words[0], "set_thread_import") == 0)
            set_thread_import(thread_of(words[1]), words[2], words[3]);
        else if (strcmp(words[0], "at") == 0)
            tell(words[1]);
        else if (strcmp(words[0], "expire") == 0)
            expire();
        else if (!raise_timeout(words[0], words[1]) && !raise_event(words[0], words[1]))
            fatal("no such event", words[0]);
        puts("");
    }
    return 0;
}
