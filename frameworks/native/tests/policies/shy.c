/* A FIFO that dispatches nothing while the import `shy` is not 0, whatever is ready. */
#include "by_hand.h"
#include "catapults/values.h"

struct shy {
    struct catapults_list ready;
    catapults_int *shy, shy_default;
};

static const struct catapults_stop *append(void *self_, struct catapults_thread *t) {
    struct shy *self = self_;
    if (t->container == IN_READY)
        catapults_list_remove(&self->ready, t);
    catapults_list_append(&self->ready, t, IN_READY);
    return NULL;
}

static struct catapults_thread *schedule(void *self_, const struct catapults_stop **stop) {
    (void)stop;
    struct shy *self = self_;
    if (CATAPULTS_READ(self->shy) || !self->ready.first)
        return NULL;
    struct catapults_thread *t = catapults_list_pop(&self->ready);
    t->container = IN_CURRENT;
    return t;
}

static const struct catapults_stop *wait(void *self_, struct catapults_thread *t) {
    struct shy *self = self_;
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

static int64_t threads(const void *self) { return ((const struct shy *)self)->ready.count; }

static void start(void *self_) {
    struct shy *self = self_;
    catapults_list_init(&self->ready);
    self->shy = &self->shy_default;
}

static void adopt(void *self, struct catapults_thread *t) {
    (void)self;
    t->container = 0;
}

static const struct native_handlers handlers = {
    .newthread = append,
    .schedule = schedule,
    .switch_out = append,
    WAITING(wait),
    WAKING(append),
    .exit = leave,
    QUERIES(threads),
};

static const struct catapults_import imports[] = {
    {"shy", CATAPULTS_IMPORT_INT, offsetof(struct shy, shy), offsetof(struct shy, shy_default)},
};

__attribute__((visibility("default"))) const struct catapults_policy catapults_policy = {
    .magic = CATAPULTS_MAGIC,
    .contract = CATAPULTS_CONTRACT,
    .framework_abi = CATAPULTS_NATIVE_ABI,
    .instance_size = sizeof(struct shy),
    .thread_size = sizeof(struct catapults_thread),
    .imports_count = 1,
    .framework = "native",
    .name = "shy",
    .source = "policies/shy.sched",
    .classes = CLASSES,
    .imports = imports,
    .start = start,
    .adopt = adopt,
    .handlers = &handlers,
};
