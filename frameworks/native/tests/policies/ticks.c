/*
 * Whoever runs loses the processor at a tick. It asks for no clock. Written by hand in the shape of generated code.
 */
#include "by_hand.h"

struct ticks {
    struct catapults_list ready;
};

static const struct catapults_stop *ready(void *self_, struct catapults_thread *t) {
    struct ticks *self = self_;
    if (t->container == IN_READY)
        catapults_list_remove(&self->ready, t);
    catapults_list_append(&self->ready, t, IN_READY);
    return NULL;
}

static struct catapults_thread *schedule(void *self_, const struct catapults_stop **stop) {
    (void)stop;
    struct catapults_thread *t = catapults_list_pop(&((struct ticks *)self_)->ready);
    t->container = IN_CURRENT;
    return t;
}

static const struct catapults_stop *wait(void *self_, struct catapults_thread *t) {
    if (t->container == IN_READY)
        catapults_list_remove(&((struct ticks *)self_)->ready, t);
    t->container = IN_WAITING;
    return NULL;
}

static const struct catapults_stop *leave(void *self, struct catapults_thread *t) {
    (void)self;
    t->container = 0;
    return NULL;
}

static int64_t count(const void *self) { return ((const struct ticks *)self)->ready.count; }

static void start(void *self) { catapults_list_init(&((struct ticks *)self)->ready); }

static void adopt(void *self, struct catapults_thread *t) {
    (void)self;
    t->container = 0;
}

static const struct native_handlers handlers = {
    .newthread = ready,
    .schedule = schedule,
    .switch_out = ready,
    WAITING(wait),
    WAKING(ready),
    .exit = leave,
    .tick = ready,
    QUERIES(count),
};

__attribute__((visibility("default"))) const struct catapults_policy catapults_policy = {
    .magic = CATAPULTS_MAGIC,
    .contract = CATAPULTS_CONTRACT,
    .framework_abi = CATAPULTS_NATIVE_ABI,
    .instance_size = (sizeof(struct ticks) + 15) & ~15u,
    .thread_size = (sizeof(struct catapults_thread) + 15) & ~15u,
    .framework = "native",
    .name = "ticks",
    .source = "policies/ticks.sched",
    .classes = CLASSES,
    .start = start,
    .adopt = adopt,
    .handlers = &handlers,
};
