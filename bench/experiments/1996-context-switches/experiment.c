/*
 * How many context switches schedulers add (CPU inheritance scheduling, 1996, §5.7.2 and Table 2), for four
 * applications under the schedulers of Figure 6, without its third level.
 *
 *   1996-context-switches threads|policies client_server|database|real_time|general
 *
 * threads: as in the paper schedulers are threads, which run to decide, and lend their turns by catapults_schedule.
 * policies: under workstation.hierarchy, where a decision is a call. Prints `value PER_CENT`: how many of all
 * dispatches are of schedulers; and on standard error how often each was dispatched, as Table 2 does. Counted by a
 * recording of who ran when.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "work.h"
#include "dispatcher/trace.h"

enum { REAL_TIME, TIMESHARING, BACKGROUND, ROOT, SCHEDULERS };
enum { MOST_CLIENTS = 16, LENGTH = 400 /* ticks */ };

static bool by_threads;

/* ---- Schedulers that are threads --------------------------------------------------------------------------------- */

static struct scheduler_thread {
    const char *name; /* in workstation.hierarchy, too */
    bool lottery;     /* else the highest rank runs */
    int64_t quantum;  /* 0: none */
    int rank;         /* at the root */
    catapults_port_t port;
    catapults_t ready[MOST_CLIENTS], current;
    int count;
} schedulers[SCHEDULERS] = {
    [REAL_TIME] = {.name = "real_time", .rank = 3, .port = CATAPULTS_PORT_INITIALIZER},
    [TIMESHARING] =
        {.name = "timesharing", .lottery = true, .quantum = 10000000, .rank = 2, .port = CATAPULTS_PORT_INITIALIZER},
    [BACKGROUND] = {.name = "background", .quantum = 10000000, .rank = 1, .port = CATAPULTS_PORT_INITIALIZER},
    [ROOT] = {.name = "root", .port = CATAPULTS_PORT_INITIALIZER},
};

static struct {
    catapults_t thread;
    int rank;
} clients[MOST_CLIENTS];
static int clients_count;

static int rank_of(catapults_t thread) {
    for (int i = 0; i < clients_count; i++)
        if (clients[i].thread == thread)
            return clients[i].rank;
    return 0;
}

/* The place in `ready` of who is next. */
static int best(const struct scheduler_thread *self) {
    static unsigned draws = 1;
    if (self->lottery)
        return (int)((draws = draws * 16807u % 2147483647u) % (unsigned)self->count);
    int found = 0;
    for (int i = 1; i < self->count; i++)
        if (rank_of(self->ready[i]) > rank_of(self->ready[found]))
            found = i;
    return found;
}

static void take_out(struct scheduler_thread *self, int i) {
    memmove(self->ready + i, self->ready + i + 1, (size_t)(--self->count - i) * sizeof *self->ready);
}

static void put_back(struct scheduler_thread *self) {
    self->ready[self->count++] = self->current;
    self->current = NULL;
}

static void hear(struct scheduler_thread *self, const struct catapults_message *message) {
    switch (message->kind) {
    case CATAPULTS_NOTICE_READY:
        self->ready[self->count++] = message->sender;
        if (self->current && !self->lottery && rank_of(message->sender) > rank_of(self->current))
            put_back(self);
        break;
    case CATAPULTS_NOTICE_BLOCKED:
    case CATAPULTS_NOTICE_EXITED:
        if (message->sender == self->current)
            self->current = NULL;
        for (int i = 0; i < self->count; i++)
            if (self->ready[i] == message->sender)
                take_out(self, i);
        break;
    case CATAPULTS_NOTICE_YIELDED:
        if (message->sender == self->current)
            put_back(self);
        break;
    }
}

static void *schedule(void *argument) {
    struct scheduler_thread *self = argument;
    for (;;) {
        if (!self->current && self->count) {
            int next = best(self);
            self->current = self->ready[next];
            take_out(self, next);
        }
        if (self->current) {
            bool alone = self->count == 0;
            int64_t end = alone || !self->quantum ? CATAPULTS_FOREVER : catapults_now() + self->quantum;
            enum catapults_sensitivity sensitivity = alone ? CATAPULTS_WAKEUP_ON_CONFLICT : CATAPULTS_WAKEUP_ON_BLOCK;
            int error = catapults_schedule_until(self->current, &self->port, sensitivity, end);
            if (error == ETIMEDOUT)
                put_back(self);
            if (error == EAGAIN)
                self->current = NULL;
        }
        struct catapults_message *message;
        while (catapults_port_count(&self->port) > 0 || (!self->current && !self->count))
            if (catapults_port_receive(&self->port, &message) == 0)
                hear(self, message);
    }
    return NULL;
}

/* ---- Threads ----------------------------------------------------------------------------------------------------- */

enum { MOST_WORKERS = 12, PERIOD = 10 /* ticks */ };
static struct worker all[MOST_WORKERS];

/* `rank` is among those of one scheduler. */
static struct worker *spawn(const char *name, int class, int rank, void *(*body)(void *)) {
    struct worker *worker = &all[workers_count++];
    struct scheduler_thread *scheduler = &schedulers[class];
    struct catapults_value periodic[] = {catapults_value_time("period", PERIOD * 1000000),
                                         catapults_value_time("budget", PERIOD * 200000)};
    struct catapults_value priority = catapults_value_int("priority", rank);
    struct catapults_attributes attributes = {.name = name, .detached = true};
    worker->name = name;
    worker->alarm = INT64_MAX;
    if (by_threads) {
        attributes.scheduled_by = &scheduler->port;
    } else {
        attributes.scheduler = catapults_scheduler_find(scheduler->name);
        attributes.values = class == REAL_TIME ? periodic : &priority;
        attributes.values_count = class == REAL_TIME ? 2 : 1;
    }
    if (catapults_sem_init(&worker->bell, 0) != 0 ||
        catapults_create(&worker->thread, &attributes, body, worker) != 0) {
        fprintf(stderr, "cannot start %s\n", name);
        exit(EXIT_FAILURE);
    }
    clients[clients_count].thread = worker->thread;
    clients[clients_count++].rank = rank;
    return worker;
}

static double random_up_to(double most) {
    static uint64_t state = 1;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return most * (double)(state >> 11) / (double)(1ULL << 53);
}

/* Until `count` ticks later. */
static void rest(struct worker *self, double count) { wait_until(self, chunks + ticks(count)); }

static void *computing(void *self) {
    compute(self, INT64_MAX);
    return NULL;
}

/* General: as in 1996-multilevel-scheduling. */
static void *periodic(void *self) {
    for (int64_t next = chunks;; next += ticks(PERIOD)) {
        compute(self, ticks(PERIOD) / 4);
        if (next + ticks(PERIOD) > chunks)
            wait_until(self, next + ticks(PERIOD));
    }
    return NULL;
}
static void *bursts(void *self) {
    for (;;) {
        compute(self, ticks(40));
        rest(self, 60);
    }
    return NULL;
}
static void general(void) {
    spawn("RM1", REAL_TIME, 2, periodic);
    spawn("RM2", REAL_TIME, 1, periodic);
    spawn("LS1", TIMESHARING, 0, bursts);
    spawn("RR1", BACKGROUND, 0, computing);
    spawn("RR2", BACKGROUND, 0, computing);
}

/* Real-time: as in 1996-priority-inversion. */
static catapults_mutex_t mutex;
static void *acquiring(void *self) {
    for (;;) {
        catapults_mutex_lock(&mutex);
        compute(self, ticks(1));
        catapults_mutex_unlock(&mutex);
        rest(self, 4);
    }
    return NULL;
}
static void *inspecting(void *self) {
    for (;;) {
        catapults_mutex_lock(&mutex);
        compute(self, ticks(random_up_to(3)));
        catapults_mutex_unlock(&mutex);
        compute(self, ticks(random_up_to(3)));
    }
    return NULL;
}
static void *disturbing(void *self) {
    for (;;) {
        compute(self, ticks(random_up_to(20)));
        rest(self, random_up_to(20));
    }
    return NULL;
}
static void real_time(void) {
    catapults_mutex_init(&mutex, NULL);
    spawn("RM1", REAL_TIME, 1, acquiring);
    spawn("LS1", TIMESHARING, 0, disturbing);
    spawn("RR1", BACKGROUND, 0, inspecting);
}

/* Client/server: clients of all kinds call two servers of the background, and lend them their turns. */
static catapults_port_t services[2] = {CATAPULTS_PORT_INITIALIZER, CATAPULTS_PORT_INITIALIZER};
static void serve(struct worker *self, catapults_port_t *service) {
    struct catapults_message *message;
    while (catapults_port_receive(service, &message) == 0) {
        compute(self, ticks(0.3));
        catapults_port_reply(message);
    }
}
static void *first_server(void *self) {
    serve(self, &services[0]);
    return NULL;
}
static void *second_server(void *self) {
    serve(self, &services[1]);
    return NULL;
}
static void *calling(void *argument) {
    struct worker *self = argument;
    struct catapults_message call = {0};
    for (int i = 0;; i++) {
        compute(self, ticks(random_up_to(2)));
        catapults_port_call(&services[i % 2], &call);
        if (self->name[0] != 'R' || self->name[1] != 'R')
            rest(self, random_up_to(10));
    }
    return NULL;
}
static void client_server(void) {
    spawn("RR2", BACKGROUND, 0, first_server);
    spawn("RR3", BACKGROUND, 0, second_server);
    spawn("RM1", REAL_TIME, 2, calling);
    spawn("RM2", REAL_TIME, 1, calling);
    spawn("LS1", TIMESHARING, 0, calling);
    spawn("RR1", BACKGROUND, 0, calling);
}

/* Parallel database: each looks for random leaves of a tree, and locks a node before it unlocks the one above. */
enum { NODES = 255 };
static catapults_mutex_t nodes[NODES];
static void *searching(void *self) {
    for (;;) {
        int node = 0;
        catapults_mutex_lock(&nodes[node]);
        while (2 * node + 2 < NODES) {
            int below = 2 * node + 1 + (random_up_to(2) >= 1);
            compute(self, ticks(0.02));
            catapults_mutex_lock(&nodes[below]);
            catapults_mutex_unlock(&nodes[node]);
            node = below;
        }
        compute(self, ticks(0.02));
        catapults_mutex_unlock(&nodes[node]);
    }
    return NULL;
}
static void database(void) {
    for (int i = 0; i < NODES; i++)
        catapults_mutex_init(&nodes[i], NULL);
    spawn("RR1", BACKGROUND, 0, searching);
    spawn("RR2", BACKGROUND, 0, searching);
    spawn("RR3", BACKGROUND, 0, searching);
    spawn("RR4", BACKGROUND, 0, searching);
}

/* ---- Counting ---------------------------------------------------------------------------------------------------- */

static int recording; /* a file that has no name any more */

static struct trace_file *read_recording(void) {
    off_t size = lseek(recording, 0, SEEK_END);
    struct trace_file *file = size > 0 ? malloc((size_t)size) : NULL;
    if (!file || pread(recording, file, (size_t)size, 0) != (ssize_t)size || file->written > file->capacity) {
        fprintf(stderr, "the recording cannot be read\n");
        _exit(EXIT_FAILURE);
    }
    return file;
}

static void print_counts(void) {
    enum { NUMBERS = 64 };
    struct trace_file *file = read_recording();
    char names[NUMBERS][17] = {{0}};
    int counts[NUMBERS] = {0}, users = 0, deciders = 0;
    uint32_t last = 0;
    for (uint64_t i = 0; i < file->written; i++) {
        const struct trace_record *record = &trace_records(file)[i];
        if (record->thread >= NUMBERS)
            continue;
        if (record->kind == TRACE_NAMED && record->detail == 0)
            memcpy(names[record->thread], record->name, 16);
        if (record->kind != TRACE_DISPATCHED && record->kind != TRACE_LENT)
            continue;
        bool user = false;
        for (int k = 0; k < workers_count; k++)
            user = user || strcmp(names[record->thread], all[k].name) == 0;
        if (user && !by_threads)
            deciders++; /* the root, which is not recorded */
        if (user && record->thread == last)
            continue;
        counts[record->thread]++;
        if (user)
            users++;
        else if (strcmp(names[record->thread], "main") != 0)
            deciders++;
        if (user || by_threads)
            last = record->thread;
    }
    for (int i = 0; i < NUMBERS; i++)
        if (counts[i])
            fprintf(stderr, "%-12s %6d\n", *names[i] ? names[i] : "scheduler", counts[i]);
    fprintf(stderr, "users %d, schedulers %d\n", users, deciders);
    printf("value %.2f\n", 100.0 * deciders / (users + deciders));
    fflush(stdout);
    _exit(EXIT_SUCCESS);
}

static void *watching(void *self) {
    wait_until(self, ticks(LENGTH));
    print_counts();
    return NULL;
}

int main(int count, char **arguments) {
    static const struct {
        const char *name;
        void (*start)(void);
    } applications[] = {
        {"client_server", client_server}, {"database", database}, {"real_time", real_time}, {"general", general}};
    void (*start_application)(void) = NULL;
    for (size_t i = 0; i < sizeof applications / sizeof *applications && count == 3; i++)
        if (strcmp(arguments[2], applications[i].name) == 0)
            start_application = applications[i].start;
    by_threads = count == 3 && strcmp(arguments[1], "threads") == 0;
    if (!start_application || (!by_threads && strcmp(arguments[1], "policies") != 0)) {
        fprintf(stderr, "usage: %s threads|policies client_server|database|real_time|general\n", arguments[0]);
        return EXIT_FAILURE;
    }
    workers = all;
    sampling = INT64_MAX / 2;
    char name[] = "/tmp/catapults-experiment-XXXXXX";
    recording = mkstemp(name);
    int error = recording < 0 ? errno : catapults_init(&(struct catapults_options){.trace = name});
    unlink(name);
    if (error)
        return EXIT_FAILURE;
    for (int i = ROOT; by_threads && i >= 0; i--) {
        struct catapults_attributes attributes = {.name = schedulers[i].name, .detached = true};
        attributes.scheduled_by = i == ROOT ? NULL : &schedulers[ROOT].port;
        if (i == ROOT)
            attributes.scheduler = catapults_scheduler_root();
        catapults_t thread;
        if (catapults_create(&thread, &attributes, schedule, &schedulers[i]) != 0)
            return EXIT_FAILURE;
        clients[clients_count].thread = thread;
        clients[clients_count++].rank = schedulers[i].rank;
    }
    spawn("end", REAL_TIME, 9, watching);
    start_application();
    spawn("idle", BACKGROUND, -1, idle);
    catapults_sem_t never;
    catapults_sem_init(&never, 0);
    catapults_sem_wait(&never);
    return EXIT_FAILURE;
}
