/*
 * A policy that looks at the clock: first come, first served; `seen` is the instant of the last event, `spent` of each
 * thread how long it had run when it came to stand behind the others. Written by hand in the shape of generated code.
 */
#include "by_hand.h"
#include "catapults/values.h"

struct clocked {
    struct catapults_list ready;
    catapults_time *seen, seen_default;
    catapults_time now;
};

struct clocked_thread {
    struct catapults_thread base;
    catapults_time *consumed, consumed_default;
    catapults_time *spent, spent_default;
};

static struct clocked_thread *of(const struct catapults_thread *t) { return (struct clocked_thread *)t; }

static const struct catapults_stop *ready(void *self_, struct catapults_thread *t) {
    struct clocked *self = self_;
    if (t->container == IN_READY)
        catapults_list_remove(&self->ready, t);
    CATAPULTS_WRITE(self->seen, self->now);
    CATAPULTS_WRITE(of(t)->spent, CATAPULTS_READ(of(t)->consumed));
    catapults_list_append(&self->ready, t, IN_READY);
    return NULL;
}

static struct catapults_thread *schedule(void *self_, const struct catapults_stop **stop) {
    struct clocked *self = self_;
    (void)stop;
    struct catapults_thread *t = catapults_list_pop(&self->ready);
    t->container = IN_CURRENT;
    return t;
}

static const struct catapults_stop *wait(void *self_, struct catapults_thread *t) {
    struct clocked *self = self_;
    if (t->container == IN_READY)
        catapults_list_remove(&self->ready, t);
    t->container = IN_WAITING;
    return NULL;
}

static const struct catapults_stop *leave(void *self, struct catapults_thread *t) {
    (void)self;
    t->container = 0;
    return NULL;
}

/* A query is told what time it is too. */
static int64_t threads_ready(const void *self) { return ((const struct clocked *)self)->now; }

static void start(void *self_) {
    struct clocked *self = self_;
    catapults_list_init(&self->ready);
    self->seen = &self->seen_default;
    self->seen_default = 0;
    self->now = 0;
}

static void adopt(void *self, struct catapults_thread *t_) {
    (void)self;
    struct clocked_thread *t = of(t_);
    t->base.container = 0;
    t->consumed = &t->consumed_default;
    t->consumed_default = 1000 * CATAPULTS_S; /* until the host counts */
    t->spent = &t->spent_default;
    t->spent_default = 0;
}

static const struct native_handlers handlers = {
    .newthread = ready,
    .schedule = schedule,
    .switch_out = ready,
    WAITING(wait),
    WAKING(ready),
    .exit = leave,
    QUERIES(threads_ready),
};

static const struct catapults_import imports[] = {
    {"seen", CATAPULTS_IMPORT_TIME, offsetof(struct clocked, seen), offsetof(struct clocked, seen_default)},
};

static const struct catapults_import thread_imports[] = {
    {"spent", CATAPULTS_IMPORT_TIME, offsetof(struct clocked_thread, spent),
     offsetof(struct clocked_thread, spent_default)},
    {"consumed", CATAPULTS_IMPORT_TIME, offsetof(struct clocked_thread, consumed),
     offsetof(struct clocked_thread, consumed_default)},
};

__attribute__((visibility("default"))) const struct catapults_policy catapults_policy = {
    .magic = CATAPULTS_MAGIC,
    .contract = CATAPULTS_CONTRACT,
    .framework_abi = CATAPULTS_NATIVE_ABI,
    .instance_size = (sizeof(struct clocked) + 15) & ~15u,
    .thread_size = (sizeof(struct clocked_thread) + 15) & ~15u,
    .imports_count = sizeof imports / sizeof *imports,
    .thread_imports_count = sizeof thread_imports / sizeof *thread_imports,
    .framework = "native",
    .name = "clock",
    .source = "policies/clock.sched",
    .classes = CLASSES,
    .imports = imports,
    .thread_imports = thread_imports,
    .now = offsetof(struct clocked, now),
    .start = start,
    .adopt = adopt,
    .handlers = &handlers,
};

/* For a dispatcher that includes this file. */
#define CATAPULTS_COMPILED_IN_HANDLERS handlers
#define CATAPULTS_COMPILED_IN_INSTANCE struct clocked
#define CATAPULTS_COMPILED_IN_THREAD struct clocked_thread
#define CATAPULTS_COMPILED_IN_NOW now
#define CATAPULTS_COMPILED_IN_THREADIMPORT_spent
#define CATAPULTS_COMPILED_IN_THREADIMPORT_consumed
