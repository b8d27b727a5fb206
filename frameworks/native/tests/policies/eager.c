/*
 * A policy of impatience: a thread that comes or wakes runs at once, and the one that ran goes on afterwards. Who
 * yields comes last. Written by hand in the shape of generated code.
 */
#include "by_hand.h"

struct eager {
    struct catapults_list ready;
    struct catapults_thread *current;
};

static void take(struct eager *self, struct catapults_thread *t) {
    if (t->container == IN_READY)
        catapults_list_remove(&self->ready, t);
    else if (t->container == IN_CURRENT)
        self->current = NULL;
}

static const struct catapults_stop *at_once(void *self_, struct catapults_thread *t) {
    struct eager *self = self_;
    struct catapults_thread *running = self->current;
    if (running) {
        take(self, running);
        catapults_list_push(&self->ready, running, IN_READY);
    }
    take(self, t);
    catapults_list_push(&self->ready, t, IN_READY);
    return NULL;
}

static const struct catapults_stop *switch_out(void *self_, struct catapults_thread *t) {
    struct eager *self = self_;
    take(self, t);
    catapults_list_append(&self->ready, t, IN_READY);
    return NULL;
}

static struct catapults_thread *schedule(void *self_, const struct catapults_stop **stop) {
    struct eager *self = self_;
    (void)stop;
    self->current = catapults_list_pop(&self->ready);
    self->current->container = IN_CURRENT;
    return self->current;
}

static const struct catapults_stop *wait(void *self, struct catapults_thread *t) {
    take(self, t);
    t->container = IN_WAITING;
    return NULL;
}

static const struct catapults_stop *leave(void *self, struct catapults_thread *t) {
    take(self, t);
    t->container = 0;
    return NULL;
}

static int64_t threads_ready(const void *self) { return ((const struct eager *)self)->ready.count; }

static void start(void *self_) {
    struct eager *self = self_;
    catapults_list_init(&self->ready);
    self->current = NULL;
}

static void adopt(void *self, struct catapults_thread *t) {
    (void)self;
    t->container = 0;
}

static const struct native_handlers handlers = {
    .newthread = at_once,
    .schedule = schedule,
    .switch_out = switch_out,
    WAITING(wait),
    WAKING(at_once),
    .exit = leave,
    QUERIES(threads_ready),
};

__attribute__((visibility("default"))) const struct catapults_policy catapults_policy = {
    .magic = CATAPULTS_MAGIC,
    .contract = CATAPULTS_CONTRACT,
    .framework_abi = CATAPULTS_NATIVE_ABI,
    .instance_size = (sizeof(struct eager) + 15) & ~15u,
    .thread_size = (sizeof(struct catapults_thread) + 15) & ~15u,
    .framework = "native",
    .name = "eager",
    .source = "policies/eager.sched",
    .classes = CLASSES,
    .start = start,
    .adopt = adopt,
    .handlers = &handlers,
};
