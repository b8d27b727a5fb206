/*
 * Every event is raised here, and every switch made: the one file that a policy can be compiled into. Its hot paths
 * touch the thread that leaves, the thread that comes, and the policy's containers.
 */
#include "dispatcher/dispatcher.h"

#include <errno.h>

#ifdef CATAPULTS_COMPILED_IN
#include CATAPULTS_COMPILED_IN
#include "dispatcher/raise_compiled_in.h"
#else
#include "dispatcher/raise_loaded.h"
#endif
#include "dispatcher/trace.h"

struct dispatcher dispatcher;

/* Decides who is next. Some thread is RUNNABLE, none is RUNNING. */
static inline __attribute__((always_inline)) struct dispatcher_thread *choose(void) {
    if (UNLIKELY(--dispatcher.patience <= 0))
        dispatcher_attend();
    for (;;) {
        struct catapults_thread *t = SCHEDULE(&dispatcher.stop);
        if (LIKELY(t)) {
            struct dispatcher_thread *thread = dispatcher_thread_of(t);
            if (LIKELY(thread->state == THREAD_RUNNABLE))
                return thread;
            dispatcher_contain("schedule", NULL, "it dispatched a thread that is not ready", NULL);
        } else if (dispatcher.stop) {
            const struct catapults_stop *stop = dispatcher.stop;
            dispatcher.stop = NULL;
            dispatcher_contain("schedule", stop, NULL, NULL);
        } else if (!dispatcher_wait()) {
            dispatcher_contain("schedule", NULL, "it dispatched nothing although a thread is ready", NULL);
        }
    }
}

/* The same when it may be that none is RUNNABLE. */
static struct dispatcher_thread *await(void) {
    while (dispatcher.runnable == 0) {
        if (!dispatcher_wait()) {
            if (dispatcher.oldest)
                dispatcher.host->deadlocked();
            dispatcher.host->finished();
        }
    }
    return choose();
}

/* `next` is RUNNING: what C and C++ keep for the kernel thread is its own now. */
static inline __attribute__((always_inline)) void enter(struct dispatcher_thread *next) {
    TRACE(TRACE_DISPATCHED, next, 0);
    *dispatcher.error_number = next->error_number;
    *dispatcher.exceptions = next->exceptions;
    dispatcher.current = next;
}

/* Goes on with `next`; returns when somebody goes on with `self`. Nothing is left to be done then, so that a yield ends
 * in the switch itself and goes on straight in its caller: a processor cannot foresee a return to another thread. */
static inline __attribute__((always_inline)) void run(struct dispatcher_thread *self, struct dispatcher_thread *next) {
    if (next == self) {
        TRACE(TRACE_DISPATCHED, next, 0);
        return;
    }
    self->error_number = *dispatcher.error_number;
    self->exceptions = *dispatcher.exceptions;
    enter(next);
    context_switch(&self->context, &next->context);
}

/* Whether the policy has taken the processor from the running thread, by moving it to a READY container. Its queries
 * are no witness: they answer what their author likes. */
static inline bool taken_from(const struct dispatcher_thread *self) {
    return dispatcher.policy->classes[self->policy.container] == CATAPULTS_READY;
}

/* An event was raised on behalf of others while `dispatcher.current` is RUNNING: it may have lost the processor. */
static inline void preempt(void) {
    struct dispatcher_thread *self = dispatcher.current;
    if (dispatcher.polling || LIKELY(!taken_from(self)))
        return;
    TRACE(TRACE_SWITCHED_OUT, self, 0);
    run(self, choose());
}

static const struct dispatcher_thread *running(void) { return dispatcher.polling ? NULL : dispatcher.current; }

static void raise_suspend(struct dispatcher_thread *thread, const struct dispatcher_thread *runs) {
    thread->state = THREAD_SUSPENDED;
    dispatcher.runnable--;
    const struct catapults_stop *stop = RAISE(suspend_thread, &thread->policy);
    if (UNLIKELY(stop))
        dispatcher_contain("suspend_thread", stop, NULL, runs);
    TRACE(TRACE_SUSPENDED, thread, 0);
}

/* `runs`, here and above: the thread that is RUNNING, or NULL. */
static void raise_unblock(struct dispatcher_thread *thread, const struct dispatcher_thread *runs) {
    if (timer_is_set(&thread->timer))
        timer_cancel(&dispatcher.timers, &thread->timer);
    thread->state = THREAD_RUNNABLE;
    dispatcher.runnable++;
    const struct catapults_stop *stop = RAISE(event_raised, &thread->policy);
    if (UNLIKELY(stop))
        dispatcher_contain("event_raised", stop, NULL, runs);
    TRACE(TRACE_RAISED, thread, 0);
    if (UNLIKELY(thread->to_be_suspended)) {
        thread->to_be_suspended = false;
        raise_suspend(thread, runs);
    }
}

/* ---- Starting and ending ----------------------------------------------------------------------------------------- */

static void enrol(struct dispatcher_thread *thread) {
    timer_init(&thread->timer);
    thread->state = THREAD_RUNNABLE;
    thread->to_be_suspended = false;
    thread->error_number = 0;
    thread->exceptions = (struct dispatcher_exceptions){0};
    thread->policy.container = 0;
    thread->policy.number = ++dispatcher.numbers;
    thread->newer = NULL;
    thread->older = dispatcher.newest;
    if (dispatcher.newest)
        dispatcher.newest->newer = thread;
    else
        dispatcher.oldest = thread;
    dispatcher.newest = thread;
    dispatcher.runnable++;
    dispatcher.policy->adopt(dispatcher.instance, &thread->policy);
    dispatcher_clock_adopt(thread);
    dispatcher.host->adopted(thread);
}

static void strike(struct dispatcher_thread *thread) {
    if (thread->older)
        thread->older->newer = thread->newer;
    else
        dispatcher.oldest = thread->newer;
    if (thread->newer)
        thread->newer->older = thread->older;
    else
        dispatcher.newest = thread->older;
    dispatcher.runnable--;
}

/* Raises newthread. Returns what it was refused with. */
static const struct catapults_stop *admit(struct dispatcher_thread *thread, const struct dispatcher_thread *runs) {
    enrol(thread);
    const struct catapults_stop *stop = RAISE(newthread, &thread->policy);
    if (UNLIKELY(stop)) {
        if (stop->why == CATAPULTS_STOP_FAIL) {
            strike(thread);
            return stop;
        }
        dispatcher_contain("newthread", stop, NULL, runs);
    }
    if (UNLIKELY(dispatcher_trace != NULL)) {
        TRACE(TRACE_NEW, thread, 0);
        dispatcher.host->recorded(thread);
    }
    return NULL;
}

unsigned long dispatcher_thread_size(const struct catapults_policy *policy) {
    unsigned long size =
        policy->thread_size > dispatcher_builtin.thread_size ? policy->thread_size : dispatcher_builtin.thread_size;
    return offsetof(struct dispatcher_thread, policy) + size;
}

const struct catapults_stop *dispatcher_start(const struct dispatcher_host *host, const struct catapults_policy *policy,
                                              void *instance, struct dispatcher_thread *first) {
    static _Alignas(16) char builtin_instance[DISPATCHER_BUILTIN_INSTANCE];
    dispatcher = (struct dispatcher){.host = host,
                                     .driver = dispatcher.driver,
                                     .error_number = host->error_number,
                                     .exceptions = host->exceptions,
                                     .patience_full = 1};
    if (!policy) {
        policy = compiled_in ? compiled_in : &dispatcher_builtin;
        instance = compiled_in ? compiled_in_instance : builtin_instance;
        dispatcher.inlined = compiled_in != NULL;
    }
    dispatcher.policy = policy;
    dispatcher.handlers = policy->handlers;
    dispatcher.instance = instance;
    policy->start(instance);
    dispatcher_clock_start();
    const struct catapults_stop *stop = dispatcher.handlers->init ? RAISE_INIT() : NULL;
    if (stop)
        dispatcher_contain("init", stop, NULL, NULL);
    context_adopt(&first->context);
    dispatcher.current = first;
    stop = admit(first, NULL);
    if (!stop)
        run(first, choose());
    return stop;
}

const struct catapults_stop *dispatcher_create(struct dispatcher_thread *thread, struct stack *stack, void *top,
                                               void (*entry)(void *), void *argument) {
    context_make(&thread->context, stack, top, entry, argument);
    const struct catapults_stop *stop = admit(thread, dispatcher.current);
    if (LIKELY(!stop))
        preempt();
    return stop;
}

void dispatcher_begin(void) { tools_begin(); }

_Noreturn void dispatcher_exit(struct dispatcher_thread *heir) {
    struct dispatcher_thread *self = dispatcher.current;
    self->state = THREAD_ENDED;
    strike(self);
    const struct catapults_stop *stop = RAISE(exit, &self->policy);
    if (UNLIKELY(stop))
        dispatcher_contain("exit", stop, NULL, NULL);
    TRACE(TRACE_EXITED, self, 0);
    if (heir)
        raise_unblock(heir, NULL);
    struct dispatcher_thread *next = await();
    enter(next);
    context_leave(&self->context, &next->context);
}

/* ---- While it lives ---------------------------------------------------------------------------------------------- */

void dispatcher_yield(void) {
    struct dispatcher_thread *self = dispatcher.current;
    const struct catapults_stop *stop = RAISE(switch_out, &self->policy);
    if (UNLIKELY(stop))
        dispatcher_contain("switch_out", stop, NULL, NULL);
    TRACE(TRACE_SWITCHED_OUT, self, 0);
    run(self, choose());
}

int dispatcher_yield_to(struct dispatcher_thread *thread) {
    struct dispatcher_thread *self = dispatcher.current;
    bool possible = thread != self && thread->state == THREAD_RUNNABLE && HAS(set_next_thread) &&
                    RAISE(can_switch_to, &thread->policy);
    if (possible) {
        const struct catapults_stop *stop = RAISE(set_next_thread, &thread->policy);
        if (UNLIKELY(stop))
            dispatcher_contain("set_next_thread", stop, NULL, self);
    }
    if (UNLIKELY(taken_from(self))) /* switch_out is for a thread that is RUNNING */
        preempt();
    else
        dispatcher_yield();
    return possible ? 0 : EAGAIN;
}

static const char *const block_events[] = {"block.io.read",    "block.io.write", "block.io.accept",
                                           "block.io.connect", "block.io.file",  "block.lock",
                                           "block.condition",  "block.join",     "block.sleep"};

static const struct catapults_stop *raise_block(enum dispatcher_reason reason, struct catapults_thread *t) {
    switch (reason) {
    case BLOCK_IO_READ:
        return RAISE(block_io_read, t);
    case BLOCK_IO_WRITE:
        return RAISE(block_io_write, t);
    case BLOCK_IO_ACCEPT:
        return RAISE(block_io_accept, t);
    case BLOCK_IO_CONNECT:
        return RAISE(block_io_connect, t);
    case BLOCK_IO_FILE:
        return RAISE(block_io_file, t);
    case BLOCK_LOCK:
        return RAISE(block_lock, t);
    case BLOCK_CONDITION:
        return RAISE(block_condition, t);
    case BLOCK_JOIN:
        return RAISE(block_join, t);
    case BLOCK_SLEEP:
        return RAISE(block_sleep, t);
    }
    __builtin_unreachable();
}

int dispatcher_block(enum dispatcher_reason reason, int64_t instant) {
    struct dispatcher_thread *self = dispatcher.current;
    self->state = THREAD_BLOCKED;
    self->reason = (uint8_t)reason;
    self->timed_out = false;
    dispatcher.runnable--;
    if (instant != DISPATCHER_FOREVER) {
        timer_set(&dispatcher.timers, &self->timer, instant);
        if (instant <= dispatcher.attended)
            dispatcher.patience = 0;
    }
    const struct catapults_stop *stop = raise_block(reason, &self->policy);
    if (UNLIKELY(stop))
        dispatcher_contain(block_events[reason], stop, NULL, NULL);
    TRACE(TRACE_BLOCKED, self, reason);
    run(self, await());
    return self->timed_out ? ETIMEDOUT : 0;
}

void dispatcher_unblock(struct dispatcher_thread *thread) {
    raise_unblock(thread, running());
    preempt();
}

void dispatcher_unblock_only(struct dispatcher_thread *thread) { raise_unblock(thread, running()); }

void dispatcher_unblocked(void) { preempt(); }

void dispatcher_suspend(struct dispatcher_thread *thread) {
    struct dispatcher_thread *self = dispatcher.current;
    switch ((enum dispatcher_state)thread->state) {
    case THREAD_RUNNABLE:
        raise_suspend(thread, thread == self ? NULL : self);
        if (thread == self)
            run(self, await());
        else
            preempt();
        break;
    case THREAD_BLOCKED:
        thread->to_be_suspended = true;
        break;
    case THREAD_SUSPENDED:
    case THREAD_ENDED:
        break;
    }
}

int dispatcher_resume(struct dispatcher_thread *thread) {
    if (thread->state == THREAD_BLOCKED && thread->to_be_suspended) {
        thread->to_be_suspended = false;
        return 0;
    }
    if (thread->state != THREAD_SUSPENDED)
        return EINVAL;
    thread->state = THREAD_RUNNABLE;
    dispatcher.runnable++;
    const struct catapults_stop *stop = RAISE(resume_thread, &thread->policy);
    if (UNLIKELY(stop))
        dispatcher_contain("resume_thread", stop, NULL, dispatcher.current);
    TRACE(TRACE_RESUMED, thread, 0);
    preempt();
    return 0;
}

/* ---- For those who look ------------------------------------------------------------------------------------------ */

struct dispatcher_thread *dispatcher_self(void) { return dispatcher.current; }

bool dispatcher_is_blocked(const struct dispatcher_thread *thread) { return thread->state == THREAD_BLOCKED; }

void dispatcher_set_driver(const struct dispatcher_driver *driver) { dispatcher.driver = driver; }

const struct catapults_policy *dispatcher_policy(void) { return dispatcher.policy; }

void *dispatcher_instance(void) { return dispatcher.instance; }

const struct catapults_policy *dispatcher_compiled_in(void) { return compiled_in; }

const struct catapults_import *dispatcher_consumed(void) { return dispatcher.consumed; }

struct dispatcher_thread *dispatcher_first_thread(void) { return dispatcher.oldest; }

struct dispatcher_thread *dispatcher_next_thread(const struct dispatcher_thread *thread) { return thread->newer; }

int64_t dispatcher_threads_ready(void) { return QUERY(threads_ready); }

int64_t dispatcher_threads_suspended(void) { return QUERY(threads_suspended); }

int64_t dispatcher_threads_total(void) { return QUERY(threads_total); }
