/*
 * A policy that computes with fractions: the ready thread that has used least runs; a turn costs the less, the more
 * `weight` it has, and counts for less with each further turn (`decay`). `seen` is what it has used, `last` the instant
 * at which it last came to stand behind the others. As `catapults build` translates such a policy.
 */
#include "native_policy.h"

#include "catapults/list.h"
#include "catapults/slot.h"
#include "catapults/sorted.h"
#include "catapults/values.h"
#include "catapults/floats.h"

_Static_assert(sizeof(catapults_int) * 8 == 64, "`int` has another width in this host");

/* Where threads are: catapults_thread.container. 0: in hand. */
enum {
    in_current = 1,
    in_ready = 2,
    in_waiting = 3,
    in_suspended = 4,
};

/* The scheduler. */
struct usage {
    struct catapults_thread *current; /* threadref, RUNNING */
    struct catapults_sorted ready;    /* pqueue, lowest used first, READY */
    struct catapults_list waiting;    /* queue, BLOCKED */
    struct catapults_list suspended;  /* queue, BLOCKED */
    double *decay, decay_default;     /* imported */
    catapults_time now;               /* the instant of the event that is handled; the host writes it */
};

/* A thread, with what the scheduler keeps for it. */
struct usage_thread {
    struct catapults_thread base;
    double used;
    double *weight, weight_default;     /* imported */
    double *seen, seen_default;         /* imported */
    catapults_time *last, last_default; /* imported */
};

static inline struct usage_thread *usage_thread(const struct catapults_thread *t) { return (struct usage_thread *)t; }

/* lowest used leaves `ready` first. */
static inline int usage_ready_order(const struct catapults_thread *a, const struct catapults_thread *b) {
    if (usage_thread(a)->used != usage_thread(b)->used)
        return usage_thread(a)->used < usage_thread(b)->used ? -1 : 1;
    return 0;
}

/* usage.sched:15: event newthread(t) */
static const struct catapults_stop *usage_newthread(void *self_, struct catapults_thread *t) {
    struct usage *self = self_;
    catapults_sorted_insert(&self->ready, t, in_ready, usage_ready_order); /* usage.sched:15 */
    return NULL;
}

/* usage.sched:23: event schedule */
static struct catapults_thread *usage_schedule(void *self_, const struct catapults_stop **stop) {
    struct usage *self = self_;
    (void)stop;
    catapults_slot_put(&self->current, catapults_sorted_pop(&self->ready, CATAPULTS_FIFO),
                       in_current); /* usage.sched:24 */
    return self->current;           /* usage.sched:25 */
}

/* usage.sched:17: event switch_out(t) */
static const struct catapults_stop *usage_switch_out(void *self_, struct catapults_thread *t) {
    struct usage *self = self_;
    usage_thread(t)->used =
        catapults_number(catapults_number(usage_thread(t)->used * catapults_read_float(self->decay)) +
                         catapults_number(1.0 / catapults_read_float(usage_thread(t)->weight))); /* usage.sched:18 */
    catapults_write_float(usage_thread(t)->seen, usage_thread(t)->used);                         /* usage.sched:19 */
    CATAPULTS_WRITE(usage_thread(t)->last, self->now);                                           /* usage.sched:20 */
    self->current = NULL;
    catapults_sorted_insert(&self->ready, t, in_ready, usage_ready_order); /* usage.sched:21 */
    return NULL;
}

/* native.framework: event block.io.read(t)
 * native.framework: event block.io.write(t)
 * native.framework: event block.io.accept(t)
 * native.framework: event block.io.connect(t)
 * native.framework: event block.io.file(t)
 * native.framework: event block.lock(t)
 * native.framework: event block.condition(t)
 * native.framework: event block.join(t)
 * native.framework: event block.sleep(t)
 * native.framework: event block.kernel(t)
 * native.framework: event block.scheduler(t)
 * native.framework: event block.port(t)
 * native.framework: event block.signal(t) */
static const struct catapults_stop *usage_block(void *self_, struct catapults_thread *t) {
    struct usage *self = self_;
    self->current = NULL;
    catapults_list_append(&self->waiting, t, in_waiting); /* default */
    return NULL;
}

/* usage.sched:16: event event_raised(t)
 * usage.sched:16: event resume_thread(t) */
static const struct catapults_stop *usage_event_raised(void *self_, struct catapults_thread *t) {
    struct usage *self = self_;
    if (t->container == in_waiting)
        catapults_list_remove(&self->waiting, t);
    else
        catapults_list_remove(&self->suspended, t);
    catapults_sorted_insert(&self->ready, t, in_ready, usage_ready_order); /* usage.sched:16 */
    return NULL;
}

/* native.framework: event suspend_thread(t) */
static const struct catapults_stop *usage_suspend_thread(void *self_, struct catapults_thread *t) {
    struct usage *self = self_;
    if (t->container == in_current)
        self->current = NULL;
    else
        catapults_sorted_remove(&self->ready, t);
    catapults_list_append(&self->suspended, t, in_suspended); /* default */
    return NULL;
}

/* native.framework: event exit(t) */
static const struct catapults_stop *usage_exit(void *self_, struct catapults_thread *t) {
    struct usage *self = self_;
    self->current = NULL;
    t->container = 0; /* default */
    return NULL;
}

/* native.framework: query threads_ready */
static catapults_int usage_threads_ready(const void *self_) {
    const struct usage *self = self_;
    return self->ready.count; /* default */
}

/* native.framework: query threads_suspended */
static catapults_int usage_threads_suspended(const void *self_) {
    const struct usage *self = self_;
    return self->waiting.count + self->suspended.count; /* default */
}

/* native.framework: query threads_total */
static catapults_int usage_threads_total(const void *self_) {
    const struct usage *self = self_;
    return catapults_slot_count(self->current) + self->ready.count + self->waiting.count +
           self->suspended.count; /* default */
}

/* native.framework: query is_ready(t)
 * native.framework: query can_switch_to(t) */
static bool usage_is_ready(const void *self_, const struct catapults_thread *t) {
    (void)self_;
    return t->container == in_ready; /* default */
}

static void usage_start(void *self_) {
    struct usage *self = self_;
    self->current = NULL;
    catapults_sorted_init(&self->ready);
    catapults_list_init(&self->waiting);
    catapults_list_init(&self->suspended);
    self->decay_default = 0.5;
    self->decay = &self->decay_default;
    self->now = 0;
}

static void usage_adopt(void *self_, struct catapults_thread *t_) {
    struct usage_thread *t = usage_thread(t_);
    (void)self_;
    t->base.container = 0;
    t->used = 0.0;
    t->weight_default = 1.0;
    t->weight = &t->weight_default;
    t->seen_default = 0.0;
    t->seen = &t->seen_default;
    t->last_default = 0;
    t->last = &t->last_default;
}

static const struct native_handlers usage_handlers = {
    .newthread = usage_newthread,
    .schedule = usage_schedule,
    .switch_out = usage_switch_out,
    .block_io_read = usage_block,
    .block_io_write = usage_block,
    .block_io_accept = usage_block,
    .block_io_connect = usage_block,
    .block_io_file = usage_block,
    .block_lock = usage_block,
    .block_condition = usage_block,
    .block_join = usage_block,
    .block_sleep = usage_block,
    .block_kernel = usage_block,
    .block_scheduler = usage_block,
    .block_port = usage_block,
    .block_signal = usage_block,
    .event_raised = usage_event_raised,
    .suspend_thread = usage_suspend_thread,
    .resume_thread = usage_event_raised,
    .exit = usage_exit,
    .threads_ready = usage_threads_ready,
    .threads_suspended = usage_threads_suspended,
    .threads_total = usage_threads_total,
    .is_ready = usage_is_ready,
    .can_switch_to = usage_is_ready,
};

static const uint8_t usage_classes[] = {
    [in_current] = CATAPULTS_RUNNING,
    [in_ready] = CATAPULTS_READY,
    [in_waiting] = CATAPULTS_BLOCKED,
    [in_suspended] = CATAPULTS_BLOCKED,
};

static const struct catapults_import usage_imports[] = {
    {"decay", CATAPULTS_IMPORT_FLOAT, offsetof(struct usage, decay), offsetof(struct usage, decay_default)},
};

static const struct catapults_import usage_thread_imports[] = {
    {"weight", CATAPULTS_IMPORT_FLOAT, offsetof(struct usage_thread, weight),
     offsetof(struct usage_thread, weight_default)},
    {"seen", CATAPULTS_IMPORT_FLOAT, offsetof(struct usage_thread, seen), offsetof(struct usage_thread, seen_default)},
    {"last", CATAPULTS_IMPORT_TIME, offsetof(struct usage_thread, last), offsetof(struct usage_thread, last_default)},
};

extern const struct catapults_policy catapults_policy;
__attribute__((visibility("default"))) const struct catapults_policy catapults_policy = {
    .magic = CATAPULTS_MAGIC,
    .contract = CATAPULTS_CONTRACT,
    .framework_abi = 2,
    .instance_size = (sizeof(struct usage) + 15) / 16 * 16,
    .thread_size = (sizeof(struct usage_thread) + 15) / 16 * 16,
    .imports_count = 1,
    .thread_imports_count = 3,
    .framework = "native",
    .name = "usage",
    .source = "policies/usage.sched",
    .classes = usage_classes,
    .imports = usage_imports,
    .thread_imports = usage_thread_imports,
    .now = offsetof(struct usage, now),
    .start = usage_start,
    .adopt = usage_adopt,
    .handlers = &usage_handlers,
};

/* For a dispatcher that includes this file, so that the handlers inline into it. */
#define CATAPULTS_COMPILED_IN_HANDLERS usage_handlers
#define CATAPULTS_COMPILED_IN_INSTANCE struct usage
#define CATAPULTS_COMPILED_IN_THREAD struct usage_thread
#define CATAPULTS_COMPILED_IN_NOW now
#define CATAPULTS_COMPILED_IN_THREADIMPORT_weight
#define CATAPULTS_COMPILED_IN_THREADIMPORT_seen
#define CATAPULTS_COMPILED_IN_THREADIMPORT_last
