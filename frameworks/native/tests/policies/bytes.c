/*
 * A policy that shows what it reads of the application: the ready thread with the most `bytesleft` runs, an `urgent`
 * one before all. It refuses new threads while `connections` is negative, breaks its guard while it is 13, and counts
 * its decisions in `decisions`. Written by hand in the shape of generated code; other files of this folder spoil one
 * value of it.
 */
#include "by_hand.h"
#include "catapults/values.h"

#ifndef MAGIC
#define MAGIC CATAPULTS_MAGIC
#endif
#ifndef CONTRACT
#define CONTRACT CATAPULTS_CONTRACT
#endif
#ifndef ABI
#define ABI CATAPULTS_NATIVE_ABI
#endif
#ifndef FRAMEWORK
#define FRAMEWORK "native"
#endif
#ifndef THREAD_SIZE
#define THREAD_SIZE ((sizeof(struct bytes_thread) + 15) & ~15u)
#endif
#ifndef SHARED_SIZE
#define SHARED_SIZE 0
#endif
#ifndef BALLAST
#define BALLAST 16 /* bytes of further attributes */
#endif

struct bytes {
    struct catapults_list ready;
    catapults_int *connections, connections_default;
    catapults_int *decisions, decisions_default;
    bool *open, open_default;
};

struct bytes_thread {
    struct catapults_thread base;
    catapults_int *bytesleft, bytesleft_default;
    bool *urgent, urgent_default;
    char ballast[BALLAST];
};

static struct bytes_thread *of(const struct catapults_thread *t) { return (struct bytes_thread *)t; }

static const struct catapults_stop refusal = {CATAPULTS_STOP_FAIL, 20, "too many connections"};
static const struct catapults_stop guard = {CATAPULTS_STOP_GUARD, 51, "`ready` is empty in `ready => current`"};

static void take(struct bytes *self, struct catapults_thread *t) {
    if (t->container == IN_READY)
        catapults_list_remove(&self->ready, t);
}

static const struct catapults_stop *ready(void *self_, struct catapults_thread *t) {
    struct bytes *self = self_;
    take(self, t);
    catapults_list_append(&self->ready, t, IN_READY);
    for (int i = 0; i < BALLAST; i++)
        of(t)->ballast[i] = (char)t->number;
    return NULL;
}

static const struct catapults_stop *newthread(void *self_, struct catapults_thread *t) {
    struct bytes *self = self_;
    if (CATAPULTS_READ(self->connections) < 0)
        return &refusal;
    return ready(self, t);
}

static catapults_int rank(const struct catapults_thread *t) {
    return CATAPULTS_READ(of(t)->urgent) ? INT64_MAX : CATAPULTS_READ(of(t)->bytesleft);
}

static struct catapults_thread *schedule(void *self_, const struct catapults_stop **stop) {
    struct bytes *self = self_;
    if (CATAPULTS_READ(self->connections) == 13) {
        *stop = &guard;
        return NULL;
    }
    struct catapults_thread *best = self->ready.first;
    for (struct catapults_thread *t = best; t != self->ready.last; t = t->next)
        if (rank(t->next) > rank(best))
            best = t->next;
    catapults_list_remove(&self->ready, best);
    best->container = IN_CURRENT;
    CATAPULTS_WRITE(self->decisions, CATAPULTS_READ(self->decisions) + 1);
    return best;
}

static const struct catapults_stop *wait(void *self, struct catapults_thread *t) {
    take(self, t);
    t->container = IN_WAITING;
    return NULL;
}

static const struct catapults_stop *leave(void *self, struct catapults_thread *t) {
    (void)self;
    t->container = 0;
    return NULL;
}

static int64_t threads_ready(const void *self) { return ((const struct bytes *)self)->ready.count; }

static void start(void *self_) {
    struct bytes *self = self_;
    catapults_list_init(&self->ready);
    self->connections = &self->connections_default;
    self->decisions = &self->decisions_default;
    self->open = &self->open_default;
    self->open_default = true;
}

static void adopt(void *self, struct catapults_thread *t_) {
    (void)self;
    struct bytes_thread *t = of(t_);
    t->base.container = 0;
    t->bytesleft = &t->bytesleft_default;
    t->bytesleft_default = 7;
    t->urgent = &t->urgent_default;
    t->urgent_default = false;
}

static const struct native_handlers handlers = {
    .newthread = newthread,
    .schedule = schedule,
    .switch_out = ready,
    WAITING(wait),
    WAKING(ready),
    .exit = leave,
    QUERIES(threads_ready),
};

static const struct catapults_import imports[] = {
    {"connections", CATAPULTS_IMPORT_INT, offsetof(struct bytes, connections),
     offsetof(struct bytes, connections_default)},
    {"decisions", CATAPULTS_IMPORT_INT, offsetof(struct bytes, decisions), offsetof(struct bytes, decisions_default)},
    {"open", CATAPULTS_IMPORT_BOOL, offsetof(struct bytes, open), offsetof(struct bytes, open_default)},
};

static const struct catapults_import thread_imports[] = {
    {"bytesleft", CATAPULTS_IMPORT_INT, offsetof(struct bytes_thread, bytesleft),
     offsetof(struct bytes_thread, bytesleft_default)},
    {"urgent", CATAPULTS_IMPORT_BOOL, offsetof(struct bytes_thread, urgent),
     offsetof(struct bytes_thread, urgent_default)},
};

__attribute__((visibility("default"))) const struct catapults_policy catapults_policy = {
    .magic = MAGIC,
    .contract = CONTRACT,
    .shared_size = SHARED_SIZE,
    .framework_abi = ABI,
    .instance_size = sizeof(struct bytes),
    .thread_size = THREAD_SIZE,
    .imports_count = sizeof imports / sizeof *imports,
    .thread_imports_count = sizeof thread_imports / sizeof *thread_imports,
    .framework = FRAMEWORK,
    .name = "bytes",
    .source = "policies/bytes.sched",
    .classes = CLASSES,
    .imports = imports,
    .thread_imports = thread_imports,
    .start = start,
    .adopt = adopt,
    .handlers = &handlers,
};

/* For a dispatcher that includes this file. */
#define CATAPULTS_COMPILED_IN_HANDLERS handlers
#define CATAPULTS_COMPILED_IN_INSTANCE struct bytes
#define CATAPULTS_COMPILED_IN_THREAD struct bytes_thread
