#include "core/state.h"

#include "catapults/list.h"

/* Where a thread is, in its `container`. The host's book knows which are blocked or suspended: here they are merely
 * elsewhere. */
enum { ELSEWHERE, READY };

struct builtin {
    struct catapults_list ready;
    int64_t elsewhere; /* threads that are neither running nor ready */
};
_Static_assert(sizeof(struct builtin) == DISPATCHER_BUILTIN_INSTANCE, "keep the size in builtin.h");

static void start(void *self) {
    struct builtin *builtin = self;
    catapults_list_init(&builtin->ready);
    builtin->elsewhere = 0;
}

static void adopt(void *self, struct catapults_thread *t) {
    (void)self;
    t->container = ELSEWHERE;
}

static const struct catapults_stop *ready(void *self, struct catapults_thread *t) {
    catapults_list_append(&((struct builtin *)self)->ready, t, READY);
    return NULL;
}

static struct catapults_thread *schedule(void *self, const struct catapults_stop **stop) {
    (void)stop;
    struct builtin *builtin = self;
    if (!builtin->ready.first)
        return NULL;
    struct catapults_thread *t = catapults_list_pop(&builtin->ready);
    t->container = ELSEWHERE;
    return t;
}

static struct catapults_thread *yield(void *self, struct catapults_thread *t, const struct catapults_stop **stop) {
    ready(self, t);
    return schedule(self, stop);
}

static const struct catapults_stop *block(void *self, struct catapults_thread *t) {
    struct builtin *builtin = self;
    if (t->container == READY)
        catapults_list_remove(&builtin->ready, t);
    t->container = ELSEWHERE;
    builtin->elsewhere++;
    return NULL;
}

static const struct catapults_stop *unblock(void *self, struct catapults_thread *t) {
    ((struct builtin *)self)->elsewhere--;
    return ready(self, t);
}

/* To the front: it leaves next. */
static const struct catapults_stop *set_next_thread(void *self, struct catapults_thread *t) {
    struct builtin *builtin = self;
    catapults_list_remove(&builtin->ready, t);
    catapults_list_push(&builtin->ready, t, READY);
    return NULL;
}

static const struct catapults_stop *leave(void *self, struct catapults_thread *t) {
    (void)self;
    t->container = ELSEWHERE;
    return NULL;
}

static int64_t threads_ready(const void *self) { return ((const struct builtin *)self)->ready.count; }

static int64_t threads_suspended(const void *self) { return ((const struct builtin *)self)->elsewhere; }

/* With the one that runs. */
static int64_t threads_total(const void *self) { return threads_ready(self) + threads_suspended(self) + 1; }

static bool is_ready(const void *self, const struct catapults_thread *t) {
    (void)self;
    return t->container == READY;
}

static const struct native_handlers handlers = {
    .newthread = ready,
    .schedule = schedule,
    .switch_out = ready,
    .block_io_read = block,
    .block_io_write = block,
    .block_io_accept = block,
    .block_io_connect = block,
    .block_io_file = block,
    .block_lock = block,
    .block_condition = block,
    .block_join = block,
    .block_sleep = block,
    .block_kernel = block,
    .block_scheduler = block,
    .block_port = block,
    .block_signal = block,
    .event_raised = unblock,
    .suspend_thread = block,
    .resume_thread = unblock,
    .set_next_thread = set_next_thread,
    .exit = leave,
    .threads_ready = threads_ready,
    .threads_suspended = threads_suspended,
    .threads_total = threads_total,
    .is_ready = is_ready,
    .can_switch_to = is_ready,
};

const struct catapults_policy dispatcher_builtin = {
    .magic = CATAPULTS_MAGIC,
    .contract = CATAPULTS_CONTRACT,
    .framework_abi = CATAPULTS_NATIVE_ABI,
    .instance_size = sizeof(struct builtin),
    .thread_size = sizeof(struct catapults_thread),
    .framework = "native",
    .name = "fifo (built-in)",
    .source = "built-in",
    .classes = (const uint8_t[]){[ELSEWHERE] = CATAPULTS_IN_HAND, [READY] = CATAPULTS_READY},
    .start = start,
    .adopt = adopt,
    .handlers = &handlers,
    .yield = yield,
};
