/*
 * A policy of priorities, with ceilings: the ready thread of the greatest `priority` runs, or `ceiling` where that is
 * greater; of equals, who came first. Whoever is more urgent than the one that runs takes its place at once. Written by
 * hand in the shape of generated code.
 */
#include "by_hand.h"
#include "catapults/values.h"

struct urgency {
    struct catapults_list ready;
    struct catapults_thread *current;
};

struct urgency_thread {
    struct catapults_thread base;
    catapults_int *priority, priority_default;
    catapults_int *ceiling, ceiling_default;
    bool *favoured, favoured_default;
};

static catapults_int rank(const struct catapults_thread *t_) {
    const struct urgency_thread *t = (const struct urgency_thread *)t_;
    catapults_int priority = CATAPULTS_READ(t->priority), ceiling = CATAPULTS_READ(t->ceiling);
    return (ceiling > priority ? ceiling : priority) + (CATAPULTS_READ(t->favoured) ? 100 : 0);
}

static void take(struct urgency *self, struct catapults_thread *t) {
    if (t->container == IN_READY)
        catapults_list_remove(&self->ready, t);
    else if (t->container == IN_CURRENT)
        self->current = NULL;
}

static const struct catapults_stop *ready(void *self_, struct catapults_thread *t) {
    struct urgency *self = self_;
    take(self, t);
    catapults_list_append(&self->ready, t, IN_READY);
    struct catapults_thread *running = self->current;
    if (running && rank(t) > rank(running)) {
        self->current = NULL;
        catapults_list_push(&self->ready, running, IN_READY);
    }
    return NULL;
}

static struct catapults_thread *schedule(void *self_, const struct catapults_stop **stop) {
    struct urgency *self = self_;
    (void)stop;
    struct catapults_thread *best = self->ready.first;
    for (struct catapults_thread *t = best; t != self->ready.last; t = t->next)
        if (rank(t->next) > rank(best))
            best = t->next;
    catapults_list_remove(&self->ready, best);
    best->container = IN_CURRENT;
    self->current = best;
    return best;
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

static int64_t threads_ready(const void *self) { return ((const struct urgency *)self)->ready.count; }

static void start(void *self_) {
    struct urgency *self = self_;
    catapults_list_init(&self->ready);
    self->current = NULL;
}

static void adopt(void *self, struct catapults_thread *t_) {
    (void)self;
    struct urgency_thread *t = (struct urgency_thread *)t_;
    t->base.container = 0;
    t->priority = &t->priority_default;
    t->priority_default = 1;
    t->ceiling = &t->ceiling_default;
    t->ceiling_default = 0;
    t->favoured = &t->favoured_default;
    t->favoured_default = false;
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

static const struct catapults_import thread_imports[] = {
    {"priority", CATAPULTS_IMPORT_INT, offsetof(struct urgency_thread, priority),
     offsetof(struct urgency_thread, priority_default)},
    {"ceiling", CATAPULTS_IMPORT_INT, offsetof(struct urgency_thread, ceiling),
     offsetof(struct urgency_thread, ceiling_default)},
    {"favoured", CATAPULTS_IMPORT_BOOL, offsetof(struct urgency_thread, favoured),
     offsetof(struct urgency_thread, favoured_default)},
};

__attribute__((visibility("default"))) const struct catapults_policy catapults_policy = {
    .magic = CATAPULTS_MAGIC,
    .contract = CATAPULTS_CONTRACT,
    .framework_abi = CATAPULTS_NATIVE_ABI,
    .instance_size = (sizeof(struct urgency) + 15) & ~15u,
    .thread_size = (sizeof(struct urgency_thread) + 15) & ~15u,
    .thread_imports_count = sizeof thread_imports / sizeof *thread_imports,
    .framework = "native",
    .name = "urgency",
    .source = "policies/urgency.sched",
    .classes = CLASSES,
    .thread_imports = thread_imports,
    .start = start,
    .adopt = adopt,
    .handlers = &handlers,
};
