/*
 * A host that does what a script says: raises the events that it reads, and answers each with a line. For the machine
 * that builds it reads standard input, as tests/run/driver.c does, whose lines and answers these are. For the simulated
 * processor the script is the string in the file SCRIPT, and answers go to the simulator's console.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CATAPULTS_TEXTS
#define CATAPULTS_DEFINE_INSTANCE
#include CATAPULTS_COMPILED_IN

#ifdef SCRIPT
#define THREADS 16
static const char script[] =
#include SCRIPT
    ;

static volatile __at(0x7fff) uint8_t console;

static void say(const char *text) {
    for (; *text; text++) {
        console = 'p';
        console = *text;
    }
}

/* Whoever reads the console skips what is empty. */
static void begin_answer(void) { say(":"); }

static _Noreturn void end(uint8_t status) {
    (void)status;
    console = 's';
    for (;;)
        ;
}

static bool read_line(char *line, size_t size) {
    static const char *rest = script;
    if (!*rest)
        return false;
    while (*rest != '\n' && --size)
        *line++ = *rest++;
    *line = 0;
    rest++;
    return true;
}
#else
#include <stdio.h>
#define THREADS 4096

static void say(const char *text) { fputs(text, stdout); }
static void begin_answer(void) {}
static _Noreturn void end(uint8_t status) { exit(status); }
static bool read_line(char *line, size_t size) { return fgets(line, (int)size, stdin); }
#endif

static CATAPULTS_THREAD threads[THREADS];
static bool known[THREADS];
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
    char digits[12], *first = digits + sizeof(digits) - 1;
    unsigned long rest = number < 0 ? 0 - (unsigned long)number : (unsigned long)number;
    *first = 0;
    do
        *--first = (char)('0' + rest % 10);
    while (rest /= 10);
    if (number < 0)
        *--first = '-';
    say(first);
}

static void restart(void) {
    memset(known, 0, sizeof(known));
    out = false;
    CATAPULTS_START();
}

/* By a script's number, from 1; a thread that is not known is set up. */
static struct catapults_thread *thread_of(const char *word) {
    int number = atoi(word);
    if (number < 0 || number >= THREADS)
        fatal("thread number too high", word);
    if (!known[number]) {
        memset(&threads[number], 0xa5, sizeof(threads[number]));
        CATAPULTS_ADOPT(&threads[number]);
        known[number] = true;
    }
    return (struct catapults_thread *)&threads[number];
}

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

/* A thread that is in no container is gone: destroyed, or refused. */
static void raised(struct catapults_thread *t) {
    if (t && t->container == 0)
        known[(CATAPULTS_THREAD *)t - threads] = false;
}

static void schedule(void) {
    const struct catapults_stop *stop = NULL;
#ifdef CATAPULTS_NEVER_STOPS_schedule
    struct catapults_thread *t = CATAPULTS_HANDLER_schedule();
#else
    struct catapults_thread *t = CATAPULTS_HANDLER_schedule(&stop);
#endif
    if (!stopped(stop) && t)
        say_number((CATAPULTS_THREAD *)t - threads);
}

#define IS(name) (strcmp(words[0], name) == 0)

static bool raise(char **words) {
    struct catapults_thread *t = words[1] ? thread_of(words[1]) : NULL;
    if (IS("schedule")) {
        schedule();
        return true;
    }
#ifdef CATAPULTS_HANDLER_init
    if (IS("init")) {
#ifdef CATAPULTS_NEVER_STOPS_init
        CATAPULTS_HANDLER_init();
#else
        stopped(CATAPULTS_HANDLER_init());
#endif
        return true;
    }
#endif
    if (IS("newthread")) {
#ifdef CATAPULTS_NEVER_STOPS_newthread
        CATAPULTS_HANDLER_newthread(t);
#else
        stopped(CATAPULTS_HANDLER_newthread(t));
#endif
        raised(t);
        return true;
    }
    if (IS("switch_out")) {
#ifdef CATAPULTS_NEVER_STOPS_switch_out
        CATAPULTS_HANDLER_switch_out(t);
#else
        stopped(CATAPULTS_HANDLER_switch_out(t));
#endif
        raised(t);
        return true;
    }
    if (IS("block.wait")) {
#ifdef CATAPULTS_NEVER_STOPS_block_wait
        CATAPULTS_HANDLER_block_wait(t);
#else
        stopped(CATAPULTS_HANDLER_block_wait(t));
#endif
        raised(t);
        return true;
    }
    if (IS("event_raised")) {
#ifdef CATAPULTS_NEVER_STOPS_event_raised
        CATAPULTS_HANDLER_event_raised(t);
#else
        stopped(CATAPULTS_HANDLER_event_raised(t));
#endif
        raised(t);
        return true;
    }
    if (IS("suspend_thread")) {
#ifdef CATAPULTS_NEVER_STOPS_suspend_thread
        CATAPULTS_HANDLER_suspend_thread(t);
#else
        stopped(CATAPULTS_HANDLER_suspend_thread(t));
#endif
        raised(t);
        return true;
    }
    if (IS("resume_thread")) {
#ifdef CATAPULTS_NEVER_STOPS_resume_thread
        CATAPULTS_HANDLER_resume_thread(t);
#else
        stopped(CATAPULTS_HANDLER_resume_thread(t));
#endif
        raised(t);
        return true;
    }
#ifdef CATAPULTS_HANDLER_set_next_thread
    if (IS("set_next_thread")) {
#ifdef CATAPULTS_NEVER_STOPS_set_next_thread
        CATAPULTS_HANDLER_set_next_thread(t);
#else
        stopped(CATAPULTS_HANDLER_set_next_thread(t));
#endif
        raised(t);
        return true;
    }
#endif
    if (IS("exit")) {
#ifdef CATAPULTS_NEVER_STOPS_exit
        CATAPULTS_HANDLER_exit(t);
#else
        stopped(CATAPULTS_HANDLER_exit(t));
#endif
        raised(t);
        return true;
    }
    return false;
}

static void say_truth(bool truth) { say(truth ? "true" : "false"); }

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
        if (IS("ask"))
            ask(words[1], words[2]);
        else if (IS("set_import"))
            set_import(words[1], words[2]);
        else if (IS("set_thread_import"))
            set_thread_import(thread_of(words[1]), words[2], words[3]);
        else if (!IS("at") && !raise(words))
            fatal("no such event", words[0]);
        say("\n");
    }
    end(0);
}
