/*
 * A policy with timers: first come, first served; each thread has one that expires every 10 ms, wherever the thread is.
 * `expired` counts how often, `latest` is by how much the last was late. Written by hand in the shape of generated
 * code.
 */
#include "by_hand.h"
#include "catapults/timers.h"
#include "catapults/values.h"

struct timed {
    struct catapults_list ready;
    catapults_int *expired, expired_default;
    catapults_time *latest, latest_default;
    catapults_time now;
    struct catapults_timers timers;
};

struct timed_thread {
    struct catapults_thread base;
    struct catapults_timer tick;
};

static struct timed_thread *of(const struct catapults_thread *t) { return (struct timed_thread *)t; }

static const struct catapults_stop *ready(void *self_, struct catapults_thread *t) {
    struct timed *self = self_;
    if (t->container == IN_READY)
        catapults_list_remove(&self->ready, t);
    catapults_list_append(&self->ready, t, IN_READY);
    return NULL;
}

static const struct catapults_stop *newthread(void *self_, struct catapults_thread *t) {
    struct timed *self = self_;
    catapults_timers_set(&self->timers, &of(t)->tick, self->now + 10 * CATAPULTS_MS);
    return ready(self, t);
}

static const struct catapults_stop *timeout_tick(void *self_, struct catapults_thread *t) {
    struct timed *self = self_;
    catapults_time instant = of(t)->tick.instant;
    catapults_timers_set(&self->timers, &of(t)->tick, 0);
    CATAPULTS_WRITE(self->expired, CATAPULTS_READ(self->expired) + 1);
    CATAPULTS_WRITE(self->latest, self->now - instant);
    catapults_timers_set(&self->timers, &of(t)->tick, instant + 10 * CATAPULTS_MS);
    return NULL;
}

static struct catapults_thread *schedule(void *self_, const struct catapults_stop **stop) {
    struct timed *self = self_;
    (void)stop;
    struct catapults_thread *t = catapults_list_pop(&self->ready);
    t->container = IN_CURRENT;
    return t;
}

static const struct catapults_stop *wait(void *self_, struct catapults_thread *t) {
    struct timed *self = self_;
    if (t->container == IN_READY)
        catapults_list_remove(&self->ready, t);
    t->container = IN_WAITING;
    return NULL;
}

static const struct catapults_stop *leave(void *self_, struct catapults_thread *t) {
    struct timed *self = self_;
    t->container = 0;
    catapults_timers_set(&self->timers, &of(t)->tick, 0);
    return NULL;
}

static int64_t count(const void *self) { return ((const struct timed *)self)->ready.count; }

static void start(void *self_) {
    struct timed *self = self_;
    catapults_list_init(&self->ready);
    catapults_timers_init(&self->timers);
    self->expired = &self->expired_default;
    self->expired_default = 0;
    self->latest = &self->latest_default;
    self->latest_default = 0;
    self->now = 0;
}

static void adopt(void *self, struct catapults_thread *t_) {
    (void)self;
    struct timed_thread *t = of(t_);
    t->base.container = 0;
    catapults_timer_init(&t->tick, &t->base, 0);
}

static const struct native_handlers handlers = {
    .newthread = newthread,
    .schedule = schedule,
    .switch_out = ready,
    WAITING(wait),
    WAKING(ready),
    .exit = leave,
    QUERIES(count),
};

static const struct catapults_import imports[] = {
    {"expired", CATAPULTS_IMPORT_INT, offsetof(struct timed, expired), offsetof(struct timed, expired_default)},
    {"latest", CATAPULTS_IMPORT_TIME, offsetof(struct timed, latest), offsetof(struct timed, latest_default)},
};

static const struct catapults_timeout timeouts[] = {
    {"timeout.tick", timeout_tick},
};

__attribute__((visibility("default"))) const struct catapults_policy catapults_policy = {
    .magic = CATAPULTS_MAGIC,
    .contract = CATAPULTS_CONTRACT,
    .framework_abi = CATAPULTS_NATIVE_ABI,
    .instance_size = (sizeof(struct timed) + 15) & ~15u,
    .thread_size = (sizeof(struct timed_thread) + 15) & ~15u,
    .imports_count = sizeof imports / sizeof *imports,
    .framework = "native",
    .name = "timeouts",
    .source = "policies/timeouts.sched",
    .classes = CLASSES,
    .imports = imports,
    .now = offsetof(struct timed, now),
    .timers = offsetof(struct timed, timers),
    .timeouts_count = 1,
    .timeouts = timeouts,
    .start = start,
    .adopt = adopt,
    .handlers = &handlers,
};
