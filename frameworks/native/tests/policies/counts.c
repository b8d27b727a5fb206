/*
 * A FIFO that counts the turns of each thread in its attribute `turns`, and shows in the import `most` what the largest
 * number was that it found in a new thread. moved_counts.c keeps the same elsewhere, and its `class` is of
 * another type.
 */
#include "by_hand.h"
#include "catapults/values.h"

#ifndef TYPE
#define TYPE catapults_int
#define KIND CATAPULTS_IMPORT_INT
#endif

struct counts {
    struct catapults_list ready;
    catapults_int *most, most_default;
    bool strict; /* has seen `init` */
};

struct counts_thread {
    struct catapults_thread base;
#ifdef MOVED
    catapults_int other[3];
#endif
    TYPE class;
    catapults_int turns;
};

static struct counts_thread *of(const struct catapults_thread *t) { return (struct counts_thread *)t; }

static const struct catapults_stop *init(void *self) {
    ((struct counts *)self)->strict = true;
    return NULL;
}

static const struct catapults_stop *ready(void *self_, struct catapults_thread *t) {
    struct counts *self = self_;
    catapults_list_append(&self->ready, t, IN_READY);
    return NULL;
}

static const struct catapults_stop *newthread(void *self_, struct catapults_thread *t) {
    struct counts *self = self_;
    catapults_int found = of(t)->turns + (catapults_int)of(t)->class;
    if (found > CATAPULTS_READ(self->most))
        CATAPULTS_WRITE(self->most, found);
    return ready(self, t);
}

static struct catapults_thread *schedule(void *self_, const struct catapults_stop **stop) {
    (void)stop;
    struct counts *self = self_;
    if (!self->ready.first)
        return NULL;
    struct catapults_thread *t = catapults_list_pop(&self->ready);
    t->container = IN_CURRENT;
    of(t)->turns++;
    of(t)->class = (TYPE)1000;
    return t;
}

static const struct catapults_stop *wait(void *self_, struct catapults_thread *t) {
    struct counts *self = self_;
    if (t->container == IN_READY)
        catapults_list_remove(&self->ready, t);
    t->container = IN_WAITING;
    return NULL;
}

/* As every policy may: what is blocked is woken by event_raised, what is suspended by resume_thread. */
enum { IN_SUSPENDED = IN_WAITING + 1 };

static const struct catapults_stop *suspend(void *self, struct catapults_thread *t) {
    wait(self, t);
    t->container = IN_SUSPENDED;
    return NULL;
}

static const struct catapults_stop mistaken = {CATAPULTS_STOP_GUARD, 7, "it is not where it should be"};

static const struct catapults_stop *raised(void *self, struct catapults_thread *t) {
    return t->container == IN_WAITING ? ready(self, t) : &mistaken;
}

static const struct catapults_stop *resumed(void *self, struct catapults_thread *t) {
    return t->container == IN_SUSPENDED ? ready(self, t) : &mistaken;
}

static const struct catapults_stop *leave(void *self, struct catapults_thread *t) {
    (void)self;
    t->container = 0;
    return NULL;
}

static int64_t threads_ready(const void *self) { return ((const struct counts *)self)->ready.count; }

static void start(void *self_) {
    struct counts *self = self_;
    catapults_list_init(&self->ready);
    self->most = &self->most_default;
    self->most_default = 0;
    self->strict = false;
}

static void adopt(void *self, struct catapults_thread *t) {
    (void)self;
    t->container = 0;
    of(t)->turns = 0;
    of(t)->class = 0;
}

static const struct native_handlers handlers = {
    .init = init,
    .newthread = newthread,
    .schedule = schedule,
    .switch_out = ready,
    .block_io_read = wait,
    .block_io_write = wait,
    .block_io_accept = wait,
    .block_io_connect = wait,
    .block_io_file = wait,
    .block_lock = wait,
    .block_condition = wait,
    .block_join = wait,
    .block_sleep = wait,
    .block_kernel = wait,
    .block_scheduler = wait,
    .block_port = wait,
    .block_signal = wait,
    .suspend_thread = suspend,
    .event_raised = raised,
    .resume_thread = resumed,
    .exit = leave,
    QUERIES(threads_ready),
};

static const struct catapults_import imports[] = {
    {"most", CATAPULTS_IMPORT_INT, offsetof(struct counts, most), offsetof(struct counts, most_default)},
};

static const struct catapults_attribute attributes[] = {
    {"class", KIND, offsetof(struct counts_thread, class)},
    {"turns", CATAPULTS_IMPORT_INT, offsetof(struct counts_thread, turns)},
};

__attribute__((visibility("default"))) const struct catapults_policy catapults_policy = {
    .magic = CATAPULTS_MAGIC,
    .contract = CATAPULTS_CONTRACT,
    .framework_abi = CATAPULTS_NATIVE_ABI,
    .instance_size = sizeof(struct counts),
    .thread_size = (sizeof(struct counts_thread) + 15) / 16 * 16,
    .imports_count = 1,
    .attributes_count = 2,
    .framework = "native",
    .name = "counts",
    .source = "policies/counts.sched",
    .classes = (const uint8_t[]){[IN_CURRENT] = CATAPULTS_RUNNING,
                                 [IN_READY] = CATAPULTS_READY,
                                 [IN_WAITING] = CATAPULTS_BLOCKED,
                                 [IN_SUSPENDED] = CATAPULTS_BLOCKED},
    .imports = imports,
    .attributes = attributes,
    .start = start,
    .adopt = adopt,
    .handlers = &handlers,
};
