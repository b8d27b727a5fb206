/*
 * Does on the native runtime what the threads of a scenario do, and measures what became of them.
 *
 *   threads FILE
 *
 * FILE is a scenario as bench/src/agreement/real.rs writes it down: a word and numbers on each line. Computing is a
 * number of units of work, which are timed before the runtime starts, while as many processors compute as there will
 * be.
 *
 * Threads are created one after the other and wait, by a sleep, for the instant at which all of them begin. Prints, at
 * the end of the scenario's duration, or when all threads have ended:
 *
 *   unit NANOSECONDS
 *   lasted NANOSECONDS            from the beginning
 *   lost NANOSECONDS              for which kernel threads of ours were ready and had no processor
 *   computed THREAD NANOSECONDS   units done, as long as they were when they were timed
 *   response THREAD NANOSECONDS   of each job that is done
 */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "catapults.h"

enum { MOST_PHASES = 1000, MOST_VALUES = 8, MOST_NESTED = 8, MESSAGES = 4096, STEPS = 1000 };
static const int64_t GATE = 100000000; /* in which all threads are created */

struct phase {
    enum { RUN, SLEEP, BLOCK, YIELD, LOCK, UNLOCK, SEND, RECEIVE, JUMP, REPEAT, AGAIN, EXIT, END } what;
    int64_t number, end;
};

/* A line `thread`: so many threads that do the same. */
struct kind {
    char name[64];
    int64_t count, period;
    struct catapults_value values[MOST_VALUES];
    char names[MOST_VALUES][64];
    size_t values_count, phases_count;
    struct phase phases[MOST_PHASES];
};

/* One thread. What it has done is read by another kernel thread while it goes on. */
struct actor {
    struct kind *kind;
    catapults_t thread;
    _Atomic uint64_t units;
    int64_t left; /* of a unit, that it has computed too little */
    int64_t *responses;
    _Atomic size_t responses_count;
    size_t capacity;
};

static struct kind *kinds;
static size_t kinds_count;
static struct actor *actors;
static size_t actors_count;
static int64_t processors = 1, duration, tick;
static int64_t start; /* all begin then */
static double unit;   /* nanoseconds */
static catapults_mutex_t *locks;
static catapults_port_t *ports;
static int64_t locks_count, ports_count;
static struct catapults_message messages[MESSAGES];
static _Atomic unsigned next_message;
static atomic_flag reported = ATOMIC_FLAG_INIT;

static _Noreturn void fail(const char *why, const char *what) {
    fprintf(stderr, "threads: %s%s%s\n", why, what[0] == 0 ? "" : ": ", what);
    exit(EXIT_FAILURE);
}

static void must(int failed, const char *what) {
    if (failed != 0)
        fail(what, strerror(failed));
}

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

/* ---- Computing --------------------------------------------------------------------------------------------------- */

/* A chain in which each step waits for the one before it: as fast whatever else the core does. All computing is this
 * code. */
static __attribute__((noinline)) void compute_unit(void) {
    uint64_t state = 1;
    for (int step = 0; step < STEPS; step++) {
        state = state * UINT64_C(6364136223846793005) + 1;
        __asm__ volatile("" : "+r"(state));
    }
}

static _Atomic bool timed;

static void *compute_beside(void *argument) {
    while (!timed)
        compute_unit();
    return argument;
}

static int compare(const void *one, const void *other) {
    double difference = *(const double *)one - *(const double *)other;
    return (difference > 0) - (difference < 0);
}

/* The median of batches: what interrupts a few of them does not count. */
static void time_unit(void) {
    enum { BATCHES = 301, UNITS = 100 };
    static double batches[BATCHES];
    pthread_t beside[64];
    for (int64_t i = 1; i < processors; i++)
        must(pthread_create(&beside[i], NULL, compute_beside, NULL), "pthread_create");
    for (int batch = 0; batch < BATCHES; batch++) {
        int64_t begin = now();
        for (int i = 0; i < UNITS; i++)
            compute_unit();
        batches[batch] = (double)(now() - begin) / UNITS;
    }
    timed = true;
    for (int64_t i = 1; i < processors; i++)
        pthread_join(beside[i], NULL);
    qsort(batches, BATCHES, sizeof batches[0], compare);
    unit = batches[BATCHES / 2];
}

static void compute(struct actor *actor, int64_t nanoseconds) {
    actor->left += nanoseconds;
    int64_t units = (int64_t)((double)actor->left / unit);
    actor->left -= (int64_t)((double)units * unit);
    for (; units > 0; units--) {
        compute_unit();
        atomic_store_explicit(&actor->units, atomic_load_explicit(&actor->units, memory_order_relaxed) + 1,
                              memory_order_relaxed);
    }
}

/* ---- What threads do --------------------------------------------------------------------------------------------- */

static void respond(struct actor *actor, int64_t released) {
    /* Whoever is to end all this may be late. */
    if (duration > 0 && released >= start + duration)
        return;
    size_t count = atomic_load_explicit(&actor->responses_count, memory_order_relaxed);
    if (count == actor->capacity)
        fail("more jobs than were foreseen", actor->kind->name);
    actor->responses[count] = now() - released;
    atomic_store_explicit(&actor->responses_count, count + 1, memory_order_release);
}

/* By a read of a descriptor that can be read so much later. */
static void block(int64_t nanoseconds) {
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    struct itimerspec when = {.it_value = {nanoseconds / 1000000000, nanoseconds % 1000000000}};
    uint64_t expired;
    if (timer < 0 || timerfd_settime(timer, 0, &when, NULL) != 0 ||
        catapults_read(timer, &expired, sizeof expired) != sizeof expired)
        fail("a timer cannot be read", strerror(errno));
    catapults_close(timer);
}

static void send_message(int64_t port) {
    /* Any that is not in use: there are more than are ever on their way. */
    struct catapults_message *message = &messages[next_message++ % MESSAGES];
    must(catapults_port_send(&ports[port], message), "catapults_port_send");
}

static void *act(void *argument) {
    struct actor *actor = argument;
    const struct kind *kind = actor->kind;
    struct {
        int64_t phase, left;
    } rounds[MOST_NESTED];
    int nested = 0;
    catapults_sleep_until(start);
    int64_t released = start;
    for (int64_t place = 0;;) {
        const struct phase *phase = &kind->phases[place++];
        struct catapults_message *message;
        switch (phase->what) {
        case RUN:
            compute(actor, phase->number);
            break;
        case SLEEP:
            catapults_sleep(phase->number);
            break;
        case BLOCK:
            block(phase->number);
            break;
        case YIELD:
            catapults_yield();
            break;
        case LOCK:
            must(catapults_mutex_lock(&locks[phase->number]), "catapults_mutex_lock");
            break;
        case UNLOCK:
            must(catapults_mutex_unlock(&locks[phase->number]), "catapults_mutex_unlock");
            break;
        case SEND:
            send_message(phase->number);
            break;
        case RECEIVE:
            must(catapults_port_receive(&ports[phase->number], &message), "catapults_port_receive");
            break;
        case JUMP:
        case AGAIN:
            place = phase->number;
            break;
        case REPEAT:
            if (nested > 0 && rounds[nested - 1].phase == place - 1) {
                if (rounds[nested - 1].left-- == 0) {
                    nested--;
                    place = phase->end;
                }
            } else if (nested == MOST_NESTED) {
                fail("too many repetitions in each other", kind->name);
            } else {
                rounds[nested].phase = place - 1;
                rounds[nested++].left = phase->number - 1;
            }
            break;
        case END:
            if (kind->period > 0) {
                respond(actor, released);
                released += kind->period;
                place = 0;
                if (released > now())
                    catapults_sleep_until(released);
                break;
            } /* fall through */
        case EXIT:
            respond(actor, released);
            return NULL;
        }
    }
}

/* ---- What is printed --------------------------------------------------------------------------------------------- */

/* For how long threads of this process were ready without a processor, as the kernel counts it. */
static int64_t waited(void) {
    int64_t sum = 0;
    DIR *folder = opendir("/proc/self/task");
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        char path[300];
        snprintf(path, sizeof path, "/proc/self/task/%s/schedstat", entry->d_name);
        FILE *file = fopen(path, "r");
        long long ran, waits;
        if (file != NULL && fscanf(file, "%lld %lld", &ran, &waits) == 2)
            sum += waits;
        if (file != NULL)
            fclose(file);
    }
    if (folder != NULL)
        closedir(folder);
    return sum;
}

static int64_t waited_before;

static void report(void) {
    if (atomic_flag_test_and_set(&reported))
        for (;;)
            pause();
    int64_t lasted = now() - start;
    printf("unit %.3f\nlasted %lld\nlost %lld\n", unit, (long long)lasted, (long long)(waited() - waited_before));
    for (size_t i = 0; i < actors_count; i++) {
        struct actor *actor = &actors[i];
        size_t jobs = atomic_load_explicit(&actor->responses_count, memory_order_acquire);
        printf("computed %s %.0f\n", actor->kind->name, (double)actor->units * unit);
        for (size_t job = 0; job < jobs; job++)
            printf("response %s %lld\n", actor->kind->name, (long long)actor->responses[job]);
    }
    fflush(stdout);
    _exit(EXIT_SUCCESS);
}

/* A kernel thread of no interest to the policy. */
static void *wait_for_end(void *argument) {
    int64_t end = start + duration;
    struct timespec time = {end / 1000000000, end % 1000000000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) != 0)
        ;
    report();
    return argument;
}

/* ---- The file ---------------------------------------------------------------------------------------------------- */

static struct phase *new_phase(const char *what) {
    if (kinds_count == 0 || kinds[kinds_count - 1].phases_count == MOST_PHASES)
        fail("a phase without a place", what);
    struct kind *kind = &kinds[kinds_count - 1];
    return &kind->phases[kind->phases_count++];
}

static catapults_int integers[MOST_VALUES];
static catapults_time times[MOST_VALUES];
static bool truths[MOST_VALUES];
static struct {
    char type[8], name[64];
    long long number;
} settings[MOST_VALUES];
static size_t settings_count;

static void read_value(const char *line, bool of_thread) {
    char type[8], name[64];
    long long number;
    if (sscanf(line, "%*s %7s %63s %lld", type, name, &number) != 3)
        fail("not understood", line);
    if (!of_thread) {
        if (settings_count == MOST_VALUES)
            fail("too many values", line);
        strcpy(settings[settings_count].type, type);
        strcpy(settings[settings_count].name, name);
        settings[settings_count++].number = number;
        return;
    }
    struct kind *kind = &kinds[kinds_count - 1];
    if (kinds_count == 0 || kind->values_count == MOST_VALUES)
        fail("too many values", line);
    char *kept = strcpy(kind->names[kind->values_count], name);
    struct catapults_value *value = &kind->values[kind->values_count++];
    *value = strcmp(type, "int") == 0    ? catapults_value_int(kept, number)
             : strcmp(type, "bool") == 0 ? catapults_value_bool(kept, number != 0)
                                         : catapults_value_time(kept, number);
}

/* What is assigned to variables that the policy imports. */
static void set_values(void) {
    for (size_t i = 0; i < settings_count; i++) {
        const char *type = settings[i].type, *name = settings[i].name;
        int failed = 0;
        if (strcmp(type, "int") == 0) {
            integers[i] = settings[i].number;
            failed = catapults_schedvar_register(name, &integers[i]);
        } else if (strcmp(type, "bool") == 0) {
            truths[i] = settings[i].number != 0;
            failed = catapults_schedvar_register_bool(name, &truths[i]);
        } else {
            times[i] = settings[i].number;
            failed = catapults_schedvar_register_time(name, &times[i]);
        }
        must(failed, name);
    }
}

static void read_line(const char *line) {
    static const char *const PHASES[] = {"run",     "sleep", "block",  "yield", "lock", "unlock", "send",
                                         "receive", "jump",  "repeat", "again", "exit", "end"};
    char word[32];
    if (sscanf(line, "%31s", word) != 1)
        return;
    long long one = 0, other = 0;
    if (strcmp(word, "thread") == 0) {
        struct kind *kind = &kinds[kinds_count++];
        if (sscanf(line, "%*s %63s %lld %lld", kind->name, &one, &other) != 3)
            fail("not understood", line);
        kind->count = one;
        kind->period = other;
        actors_count += (size_t)one;
        return;
    }
    if (strcmp(word, "set") == 0 || strcmp(word, "with") == 0) {
        read_value(line, word[0] == 'w');
        return;
    }
    sscanf(line, "%*s %lld %lld", &one, &other);
    int64_t *const numbers[] = {&processors, &duration, &tick, &locks_count, &ports_count};
    static const char *const NUMBERS[] = {"processors", "duration", "tick", "locks", "ports"};
    for (size_t i = 0; i < sizeof NUMBERS / sizeof NUMBERS[0]; i++)
        if (strcmp(word, NUMBERS[i]) == 0) {
            *numbers[i] = one;
            return;
        }
    for (size_t i = 0; i < sizeof PHASES / sizeof PHASES[0]; i++)
        if (strcmp(word, PHASES[i]) == 0) {
            struct phase *phase = new_phase(line);
            *phase = (struct phase){(int)i, one, other};
            return;
        }
    fail("not understood", line);
}

static void *need(void *memory) {
    if (memory == NULL)
        fail("no memory", "");
    return memory;
}

static void read_file(const char *path) {
    FILE *file = fopen(path, "r");
    if (file == NULL)
        fail(path, strerror(errno));
    char line[256];
    size_t threads = 0;
    while (fgets(line, sizeof line, file) != NULL)
        threads += strncmp(line, "thread ", 7) == 0;
    kinds = need(calloc(threads + 1, sizeof *kinds));
    rewind(file);
    while (fgets(line, sizeof line, file) != NULL)
        read_line(line);
    fclose(file);
    if (processors < 1 || processors > 64)
        fail("too many processors", path);
    locks = need(calloc((size_t)locks_count + 1, sizeof *locks));
    ports = need(calloc((size_t)ports_count + 1, sizeof *ports));
    actors = need(calloc(actors_count + 1, sizeof *actors));
}

int main(int count, char **arguments) {
    if (count != 2)
        fail("usage: threads FILE", "");
    read_file(arguments[1]);
    time_unit();
    struct catapults_options options = {.processors = (int)processors, .tick = tick, .strict_imports = false};
    if (catapults_init(&options) != 0)
        return EXIT_FAILURE;
    set_values();
    start = now() + GATE;
    struct actor *actor = actors;
    for (struct kind *kind = kinds; kind < kinds + kinds_count; kind++)
        for (int64_t i = 0; i < kind->count; i++, actor++) {
            actor->kind = kind;
            actor->capacity = kind->period > 0 ? (size_t)(duration / kind->period) + 2 : 1;
            actor->responses = need(calloc(actor->capacity, sizeof *actor->responses));
            struct catapults_attributes attributes = {
                .name = kind->name, .values = kind->values, .values_count = kind->values_count};
            int failed = catapults_create(&actor->thread, &attributes, act, actor);
            if (failed != 0)
                fail("a thread cannot be created",
                     catapults_refusal() != NULL ? catapults_refusal() : strerror(failed));
        }
    if (now() > start)
        fail("it took too long to create the threads", "");
    waited_before = waited();
    pthread_t watch;
    if (duration > 0)
        must(pthread_create(&watch, NULL, wait_for_end, NULL), "pthread_create");
    for (actor = actors; actor < actors + actors_count; actor++)
        must(catapults_join(actor->thread, NULL), "catapults_join");
    report();
}
