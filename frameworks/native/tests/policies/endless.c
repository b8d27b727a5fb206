/* A FIFO whose handlers do not end while the import `endless` is the number of one of them, counted from 1. */
#include "by_hand.h"
#include "catapults/values.h"

struct endless {
    struct catapults_list ready;
    catapults_int *endless, endless_default;
};

/* As generated code reads an import: each time anew. */
static void may_not_end(const void *self_, catapults_int which) {
    const struct endless *self = self_;
    while (CATAPULTS_READ(self->endless) == which)
        ;
}

static const struct catapults_stop *append(void *self_, struct catapults_thread *t) {
    struct endless *self = self_;
    if (t->container == IN_READY)
        catapults_list_remove(&self->ready, t);
    catapults_list_append(&self->ready, t, IN_READY);
    return NULL;
}

#define READY(name, which)                                                                                             \
    static const struct catapults_stop *name(void *self, struct catapults_thread *t) {                                 \
        append(self, t);                                                                                               \
        may_not_end(self, which);                                                                                      \
        return NULL;                                                                                                   \
    }

READY(newthread, 1)
READY(switch_out, 2)
READY(raised, 3)

static struct catapults_thread *schedule(void *self_, const struct catapults_stop **stop) {
    (void)stop;
    struct endless *self = self_;
    may_not_end(self, 4);
    if (!self->ready.first)
        return NULL;
    struct catapults_thread *t = catapults_list_pop(&self->ready);
    t->container = IN_CURRENT;
    return t;
}

static const struct catapults_stop *wait(void *self_, struct catapults_thread *t) {
    struct endless *self = self_;
    if (t->container == IN_READY)
        catapults_list_remove(&self->ready, t);
    may_not_end(self, 5);
    t->container = IN_WAITING;
    return NULL;
}

static const struct catapults_stop *leave(void *self, struct catapults_thread *t) {
    may_not_end(self, 6);
    t->container = 0;
    return NULL;
}

static int64_t threads(const void *self) {
    may_not_end(self, 7);
    return ((const struct endless *)self)->ready.count;
}

static void start(void *self_) {
    struct endless *self = self_;
    catapults_list_init(&self->ready);
    self->endless = &self->endless_default;
}

static void adopt(void *self, struct catapults_thread *t) {
    (void)self;
    t->container = 0;
}

static const struct native_handlers handlers = {
    .newthread = newthread,
    .schedule = schedule,
    .switch_out = switch_out,
    WAITING(wait),
    WAKING(raised),
    .exit = leave,
    QUERIES(threads),
};

static const struct catapults_import imports[] = {
    {"endless", CATAPULTS_IMPORT_INT, offsetof(struct endless, endless), offsetof(struct endless, endless_default)},
};

__attribute__((visibility("default"))) const struct catapults_policy catapults_policy = {
    .magic = CATAPULTS_MAGIC,
    .contract = CATAPULTS_CONTRACT,
    .framework_abi = CATAPULTS_NATIVE_ABI,
    .instance_size = sizeof(struct endless),
    .thread_size = sizeof(struct catapults_thread),
    .imports_count = 1,
    .unbounded = 1,
    .framework = "native",
    .name = "endless",
    .source = "policies/endless.sched",
    .classes = CLASSES,
    .imports = imports,
    .start = start,
    .adopt = adopt,
    .handlers = &handlers,
};
