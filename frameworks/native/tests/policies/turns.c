/*
 * Round robin: whoever runs loses the processor after 2 ms. Written by hand in the shape of generated code.
 */
#include "by_hand.h"
#include "catapults/timers.h"
#include "catapults/values.h"

struct turns {
    struct catapults_list ready;
    struct catapults_thread *current;
    catapults_time now;
    struct catapults_timers timers;
};

struct turns_thread {
    struct catapults_thread base;
    struct catapults_timer turn;
};

static struct turns_thread *of(struct catapults_thread *t) { return (struct turns_thread *)t; }

static void take_out(struct turns *self, struct catapults_thread *t) {
    if (t->container == IN_READY)
        catapults_list_remove(&self->ready, t);
    else if (t->container == IN_CURRENT)
        self->current = NULL;
}

static const struct catapults_stop *ready(void *self_, struct catapults_thread *t) {
    struct turns *self = self_;
    take_out(self, t);
    catapults_list_append(&self->ready, t, IN_READY);
    return NULL;
}

static const struct catapults_stop *timeout_turn(void *self_, struct catapults_thread *t) {
    struct turns *self = self_;
    catapults_timers_set(&self->timers, &of(t)->turn, 0);
    return t == self->current ? ready(self, t) : NULL;
}

static struct catapults_thread *schedule(void *self_, const struct catapults_stop **stop) {
    struct turns *self = self_;
    (void)stop;
    struct catapults_thread *t = catapults_list_pop(&self->ready);
    t->container = IN_CURRENT;
    self->current = t;
    catapults_timers_set(&self->timers, &of(t)->turn, self->now + 2 * CATAPULTS_MS);
    return t;
}

static const struct catapults_stop *wait(void *self_, struct catapults_thread *t) {
    take_out(self_, t);
    t->container = IN_WAITING;
    return NULL;
}

static const struct catapults_stop *leave(void *self_, struct catapults_thread *t) {
    struct turns *self = self_;
    take_out(self, t);
    t->container = 0;
    catapults_timers_set(&self->timers, &of(t)->turn, 0);
    return NULL;
}

static int64_t count(const void *self) { return ((const struct turns *)self)->ready.count; }

static void start(void *self_) {
    struct turns *self = self_;
    catapults_list_init(&self->ready);
    catapults_timers_init(&self->timers);
    self->current = NULL;
    self->now = 0;
}

static void adopt(void *self, struct catapults_thread *t) {
    (void)self;
    t->container = 0;
    catapults_timer_init(&of(t)->turn, t, 0);
}

static const struct native_handlers handlers = {
    .newthread = ready,
    .schedule = schedule,
    .switch_out = ready,
    WAITING(wait),
    WAKING(ready),
    .exit = leave,
    QUERIES(count),
};

static const struct catapults_timeout timeouts[] = {
    {"timeout.turn", timeout_turn},
};

__attribute__((visibility("default"))) const struct catapults_policy catapults_policy = {
    .magic = CATAPULTS_MAGIC,
    .contract = CATAPULTS_CONTRACT,
    .framework_abi = CATAPULTS_NATIVE_ABI,
    .instance_size = (sizeof(struct turns) + 15) & ~15u,
    .thread_size = (sizeof(struct turns_thread) + 15) & ~15u,
    .framework = "native",
    .name = "turns",
    .source = "policies/turns.sched",
    .classes = CLASSES,
    .now = offsetof(struct turns, now),
    .timers = offsetof(struct turns, timers),
    .timeouts_count = 1,
    .timeouts = timeouts,
    .start = start,
    .adopt = adopt,
    .handlers = &handlers,
};
