/*
 * Handlers that may run for ever: those of policies that say so (loops, verbatim text). Each is called through a
 * wrapper, which can be returned to. A signal that comes when one call has lasted for too long leads there. A handler
 * touches only its instance and the policy's part of threads, and both are given up with the policy. So it can be left
 * anywhere.
 *
 *     RAISE ──► wrapper ──► handler … signal ──► dispatcher_leave_handler ──► wrapper ──► a stop
 *
 * Policies whose handlers all end are called directly.
 */
#include "contexts/tools.h"
#include "core/containment.h"
#include "dispatcher/instance.h"
#include "dispatcher/trace.h"

/* True: the handler that is called next was left, by a jump back to here. Not inlined: its frame is returned to. */
#define LEFT(scheduler) (enter_handler(scheduler), __builtin_setjmp(processor_here()->handler_jump))

static void enter_handler(struct scheduler *scheduler) {
    struct processor *processor = processor_here();
    processor->handler_on = here();
    processor->handler_call++;
    processor->handler_of = scheduler;
}

static void left_handler(void) { processor_here()->handler_of = NULL; }

TOOLS_UNSEEN bool dispatcher_overruns(void) {
    struct processor *processor = processor_here();
    if (processor->handler_on != here()) /* activations: the processor may be another's now */
        return false;
    bool same = processor->handler_of && processor->handler_seen == processor->handler_call;
    processor->handler_seen = processor->handler_call;
    return same;
}

TOOLS_UNSEEN void dispatcher_leave_handler(void) { __builtin_longjmp(processor_here()->handler_jump, 1); }

/* ---- Events ------------------------------------------------------------------------------------------------------ */

static __attribute__((noinline)) const struct catapults_stop *
call(struct scheduler *scheduler, native_thread_event *handler, void *instance, struct catapults_thread *t) {
    const struct catapults_stop *stop = &core_overran;
    if (!LEFT(scheduler))
        stop = handler(instance, t);
    left_handler();
    return stop;
}

static const struct native_handlers *real(const struct scheduler *scheduler) { return scheduler->policy->handlers; }

static __attribute__((noinline)) const struct catapults_stop *init(void *self) {
    struct scheduler *scheduler = self;
    const struct catapults_stop *stop = &core_overran;
    if (!LEFT(scheduler))
        stop = real(scheduler)->init(scheduler->instance);
    left_handler();
    return stop;
}

static __attribute__((noinline)) struct catapults_thread *schedule(void *self, const struct catapults_stop **stop) {
    struct scheduler *scheduler = self;
    struct catapults_thread *t = NULL;
    if (!LEFT(scheduler))
        t = real(scheduler)->schedule(scheduler->instance, stop);
    else
        *stop = &core_overran;
    left_handler();
    return t;
}

#define EVENT(name)                                                                                                    \
    static const struct catapults_stop *name(void *self, struct catapults_thread *t) {                                 \
        return call(self, real(self)->name, ((struct scheduler *)self)->instance, t);                                  \
    }

/* Of what the instances share. */
#define GLOBAL(name)                                                                                                   \
    static const struct catapults_stop *name(void *self, struct catapults_thread *t) {                                 \
        return call(self, real(self)->name, ((struct scheduler *)self)->shared, t);                                    \
    }

EVENT(newthread)
EVENT(switch_out)
EVENT(block_io_read)
EVENT(block_io_write)
EVENT(block_io_accept)
EVENT(block_io_connect)
EVENT(block_io_file)
EVENT(block_lock)
EVENT(block_condition)
EVENT(block_join)
EVENT(block_sleep)
EVENT(block_kernel)
EVENT(block_scheduler)
EVENT(block_port)
EVENT(block_signal)
EVENT(event_raised)
EVENT(suspend_thread)
EVENT(resume_thread)
EVENT(set_next_thread)
EVENT(tick)
EVENT(release)
EVENT(changed)
EVENT(exit)
GLOBAL(arrival)
GLOBAL(departure)
GLOBAL(dispatch)
EVENT(migrate)
EVENT(steal)

/* ---- Queries ----------------------------------------------------------------------------------------------------- */

/* The caller of a query cannot be told that there is no answer. */
static void contain(struct scheduler *scheduler, const char *query) {
    core_contain(processor_here(), scheduler, query, &core_overran, NULL, core_running(processor_here()));
}

#define NUMBER(name)                                                                                                   \
    static __attribute__((noinline)) int64_t name(const void *self) {                                                  \
        struct scheduler *scheduler = (struct scheduler *)self;                                                        \
        int64_t answer = 0;                                                                                            \
        if (!LEFT(scheduler))                                                                                          \
            answer = real(scheduler)->name(scheduler->instance);                                                       \
        else                                                                                                           \
            contain(scheduler, #name);                                                                                 \
        left_handler();                                                                                                \
        return answer;                                                                                                 \
    }

#define TRUTH(name)                                                                                                    \
    static __attribute__((noinline)) bool name(const void *self, const struct catapults_thread *t) {                   \
        struct scheduler *scheduler = (struct scheduler *)self;                                                        \
        bool answer = false;                                                                                           \
        if (!LEFT(scheduler))                                                                                          \
            answer = real(scheduler)->name(scheduler->instance, t);                                                    \
        else                                                                                                           \
            contain(scheduler, #name);                                                                                 \
        left_handler();                                                                                                \
        return answer;                                                                                                 \
    }

NUMBER(threads_ready)
NUMBER(threads_suspended)
NUMBER(threads_total)
TRUTH(is_ready)
TRUTH(can_switch_to)

/* ---- Which scheduler is watched ---------------------------------------------------------------------------------- */

static const struct native_handlers watched = {
    init,
    newthread,
    schedule,
    switch_out,
    block_io_read,
    block_io_write,
    block_io_accept,
    block_io_connect,
    block_io_file,
    block_lock,
    block_condition,
    block_join,
    block_sleep,
    block_kernel,
    block_scheduler,
    block_port,
    block_signal,
    event_raised,
    suspend_thread,
    resume_thread,
    set_next_thread,
    tick,
    release,
    changed,
    exit,
    threads_ready,
    threads_suspended,
    threads_total,
    is_ready,
    can_switch_to,
    arrival,
    departure,
    dispatch,
    migrate,
    steal,
};

static const struct catapults_stop *raise(struct scheduler *scheduler, native_thread_event *handler,
                                          struct catapults_thread *t) {
    return call(scheduler, handler, scheduler->instance, t);
}

const struct watch dispatcher_watch = {&watched, raise};

struct catapults_thread *dispatcher_yield_in_two(void *self, struct catapults_thread *t,
                                                 const struct catapults_stop **stop) {
    const struct native_handlers *handlers = &dispatcher.root.handlers;
    const struct catapults_stop *stopped = handlers->switch_out(self, t);
    if (stopped) {
        *stop = stopped;
        return t;
    }
    return handlers->schedule(self, stop);
}
