/*
 * What has happened, and which statement of which policy decided it: handlers are called by way of what notes the last
 * one.
 */
#include "instance.h"

/* ---- Records ----------------------------------------------------------------------------------------------------- */

/* How many threads are READY when a thread comes to a state. The turn is not, but it is one of those that can run. */
static int64_t ready(const struct simulated *of, enum trace_kind kind, const struct dispatcher_thread *thread) {
    const struct scheduler *root = &of->core.root;
    bool runs = of->here.turn != NULL;
    if (root->next)
        return -1;
    switch (kind) {
    case TRACE_BLOCKED:
        return root->runnable - (runs && thread != of->here.turn);
    case TRACE_SUSPENDED: /* it still counts, unless it had the turn */
        return root->runnable + !(runs && thread == of->here.turn) - runs;
    case TRACE_EXITED:
    case TRACE_SWITCHED_OUT:
    case TRACE_PREEMPTED:
        return root->runnable;
    default:
        return root->runnable - runs;
    }
}

/* Once a policy is out, the simulation is over: how its threads go on does not matter. */
static void put(struct simulated *of, enum trace_kind kind, const struct dispatcher_thread *thread,
                const struct scheduler *told, uint32_t line, uint32_t event) {
    const struct processor *here = &of->here;
    struct simulated_record record = {.kind = kind,
                                      .thread = number_of(thread),
                                      .donor = number_of(here->turn ? here->turn : thread),
                                      .scheduler = kept_of(told)->number,
                                      .line = line,
                                      .event = event,
                                      .of_scheduler = thread->is_scheduler,
                                      .ready = ready(of, kind, thread)};
    if (!of->state.failure.failed)
        of->record(of->to, &record);
}

void simulated_note_dispatch(struct simulated *of) {
    if (!of->record || of->dispatch_noted)
        return;
    of->dispatch_noted = true;
    of->idle_noted = false;
    put(of, TRACE_DISPATCHED, of->here.turn, of->dispatched_by, of->dispatched_at, NUMBER(schedule));
}

void simulated_note_idle(struct simulated *of) {
    if (!of->record || of->idle_noted)
        return;
    of->idle_noted = true;
    const struct scheduler *root = &of->core.root;
    struct simulated_record record = {.kind = TRACE_IDLE,
                                      .scheduler = kept_of(of->told)->number,
                                      .event = NUMBER(schedule),
                                      .ready = root->next ? -1 : root->runnable};
    of->record(of->to, &record);
}

void simulated_note_taken(struct simulated *of, uint32_t event) {
    if (of->taken || !of->here.turn || !core_is_taken(&of->here, of->here.turn))
        return;
    of->taken = true;
    of->taken_by = event;
}

void simulated_note(struct simulated *of, enum trace_kind kind, const struct dispatcher_thread *thread, uint32_t line,
                    uint32_t event) {
    if (of->record)
        put(of, kind, thread, of->told, line, event);
}

static void came_to(enum trace_kind kind, const struct dispatcher_thread *thread, uint8_t detail) {
    struct simulated *of = simulated_at_work;
    (void)detail;
    uint32_t event = of->raised;
    if (kind == TRACE_BLOCKED && thread == of->here.turn)
        simulated_note_dispatch(of); /* it was dispatched, and cannot lend its turn */
    if (kind == TRACE_SUSPENDED && of->blocks_aside)
        kind = TRACE_BLOCKED;
    if (kind == TRACE_SWITCHED_OUT && of->preempting && thread == of->here.turn)
        kind = TRACE_PREEMPTED;
    if (kind == TRACE_SWITCHED_OUT)
        event = NUMBER(switch_out);
    else if (kind == TRACE_PREEMPTED)
        event = of->taken_by;
    put(of, kind, thread, of->told, kept_of(of->told)->moved_by, event);
    if (kind != TRACE_RAISED && kind != TRACE_RESUMED)
        return;
    if (!thread->is_scheduler)
        of->last_event = event == NUMBER(resume_thread) ? of->state.resume_thread : of->state.event_raised;
    simulated_note_taken(of, of->last_event);
}

static void named(const struct dispatcher_thread *record, const char *name) {
    (void)record;
    (void)name;
}

static void policy_in_force(struct scheduler *scheduler) { (void)scheduler; }

static void policy_out(uint32_t line) { (void)line; }

const struct recorder simulated_recorder = {
    .came_to = came_to, .named = named, .policy_in_force = policy_in_force, .policy_out = policy_out};

/* ---- Handlers, called by way of what notes the last one ---------------------------------------------------------- */

/* One variable of the object says where threads were moved, for all schedulers of its policy. */
static void before(struct scheduler *scheduler) {
    uint32_t *moved_by = (uint32_t *)scheduler->policy->moved_by;
    if (moved_by)
        *moved_by = kept_of(scheduler)->moved_by;
}

static void after(struct scheduler *scheduler, uint32_t handler) {
    const uint32_t *moved_by = scheduler->policy->moved_by;
    if (moved_by)
        kept_of(scheduler)->moved_by = *moved_by;
    simulated_at_work->told = scheduler;
    simulated_at_work->raised = handler;
}

static const struct catapults_stop *call(struct scheduler *scheduler, uint32_t number, native_thread_event *handler,
                                         struct catapults_thread *t) {
    before(scheduler);
    const struct catapults_stop *stop = handler(scheduler->instance, t);
    after(scheduler, number);
    return stop;
}

static const struct native_handlers *real(const struct scheduler *scheduler) { return scheduler->policy->handlers; }

static const struct catapults_stop *init(void *self) {
    before(self);
    const struct catapults_stop *stop = real(self)->init(((struct scheduler *)self)->instance);
    after(self, NUMBER(init));
    return stop;
}

static struct catapults_thread *schedule(void *self, const struct catapults_stop **stop) {
    before(self);
    struct catapults_thread *t = real(self)->schedule(((struct scheduler *)self)->instance, stop);
    after(self, NUMBER(schedule));
    simulated_at_work->dispatched_by = self;
    simulated_at_work->dispatched_at = kept_of(self)->moved_by;
    simulated_at_work->dispatch_noted = false;
    return t;
}

#define EVENT(name)                                                                                                    \
    static const struct catapults_stop *name(void *self, struct catapults_thread *t) {                                 \
        return call(self, NUMBER(name), real(self)->name, t);                                                          \
    }
#define QUANTITY(name)                                                                                                 \
    static int64_t name(const void *self) { return real(self)->name(((const struct scheduler *)self)->instance); }
#define TRUTH(name)                                                                                                    \
    static bool name(const void *self, const struct catapults_thread *t) {                                             \
        return real(self)->name(((const struct scheduler *)self)->instance, t);                                        \
    }
#define ENTRY(name) .name = name,

/* All but init and schedule, and but what only policies with nodes have. */
#define EVENTS(EVENT)                                                                                                  \
    EVENT(newthread)                                                                                                   \
    EVENT(switch_out)                                                                                                  \
    EVENT(block_io_read)                                                                                               \
    EVENT(block_io_write)                                                                                              \
    EVENT(block_io_accept)                                                                                             \
    EVENT(block_io_connect)                                                                                            \
    EVENT(block_io_file)                                                                                               \
    EVENT(block_lock)                                                                                                  \
    EVENT(block_condition)                                                                                             \
    EVENT(block_join)                                                                                                  \
    EVENT(block_sleep)                                                                                                 \
    EVENT(block_kernel)                                                                                                \
    EVENT(block_scheduler)                                                                                             \
    EVENT(block_port)                                                                                                  \
    EVENT(block_signal)                                                                                                \
    EVENT(event_raised)                                                                                                \
    EVENT(suspend_thread)                                                                                              \
    EVENT(resume_thread) EVENT(set_next_thread) EVENT(tick) EVENT(release) EVENT(changed) EVENT(exit)
#define QUANTITIES(QUANTITY) QUANTITY(threads_ready) QUANTITY(threads_suspended) QUANTITY(threads_total)
#define TRUTHS(TRUTH) TRUTH(is_ready) TRUTH(can_switch_to)

EVENTS(EVENT)
QUANTITIES(QUANTITY)
TRUTHS(TRUTH)

/* Arrival, departure, dispatch, migrate, steal. */
enum { OF_NODES = 5 };
#define ONE(name) +1
_Static_assert(2 EVENTS(ONE) QUANTITIES(ONE) TRUTHS(ONE) + OF_NODES == sizeof(struct native_handlers) / sizeof(void *),
               "a handler that is not listed would not be called");

static const struct native_handlers noting = {
    .init = init, .schedule = schedule, EVENTS(ENTRY) QUANTITIES(ENTRY) TRUTHS(ENTRY)};

static const struct catapults_stop *raise_timeout(struct scheduler *scheduler, native_thread_event *handler,
                                                  struct catapults_thread *t) {
    return call(scheduler, SIMULATED_TIMEOUT, handler, t);
}

const struct watch simulated_watch = {&noting, raise_timeout};
