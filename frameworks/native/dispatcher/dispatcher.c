/*
 * Every event is raised here, and every switch made: the one file that a policy can be compiled into. Its hot paths
 * touch the thread that leaves, the thread that comes, and the policy's containers.
 */
#include "dispatcher/dispatcher.h"

#include <errno.h>

#ifdef CATAPULTS_COMPILED_IN
#include CATAPULTS_COMPILED_IN
#include "dispatcher/raise_compiled_in.h"
static const struct catapults_policy *const compiled_in = &catapults_policy;
static void *const compiled_in_instance = &compiled_in_memory;
#else
#include "dispatcher/raise_loaded.h"
static const struct catapults_policy *const compiled_in = NULL;
static void *const compiled_in_instance = NULL;
#endif
#include "dispatcher/foresight.h"
#include "dispatcher/trace.h"

struct dispatcher dispatcher;
struct dispatcher_thread *const *dispatcher_named;
struct processor dispatcher_processor;
struct dispatcher_guard dispatcher_guard;

/* Of several processors it is false from the beginning, and not written: it is read without their lock. */
void dispatcher_find_shortcut(void) {
    const struct scheduler *root = &dispatcher.root;
    bool alone = CAN_TAKE_SHORTCUT(root) && !root->next && !root->node && !dispatcher.clients && !dispatcher_trace &&
                 !dispatcher_guard.guarded && !dispatcher.several;
    uint8_t shortcut = !alone ? NO_SHORTCUT : foresight_is_worth_it() ? SHORTCUT_OF_MANY : SHORTCUT;
    if (dispatcher.shortcut != shortcut)
        dispatcher.shortcut = shortcut;
}

/* What was dispatched is a thread that can. */
static inline bool can_go_on(struct catapults_thread *t) {
    return LIKELY(t != NULL) && LIKELY(dispatcher_thread_of(t)->state == THREAD_RUNNABLE);
}

/* The scheduler has dispatched `t`, or nothing. */
static __attribute__((noinline)) struct dispatcher_thread *
descend_from(struct processor *here, struct scheduler *scheduler, struct catapults_thread *t) {
    struct dispatcher_thread *thread = dispatcher_descend_from(here, scheduler, t);
    if (UNLIKELY(here->timed))
        dispatcher_arm(here);
    return thread;
}

/* The root has. */
static struct dispatcher_thread *descend(struct processor *here, struct catapults_thread *t) {
    return descend_from(here, &dispatcher.root, t);
}

/* Down the tree as far as schedulers dispatch schedulers, and nothing is unusual; *scheduler is the one that dispatched
 * what is returned. */
static inline __attribute__((always_inline)) struct catapults_thread *
descend_usually(struct processor *here, struct scheduler **scheduler, struct catapults_thread *t) {
    while (LIKELY(t != NULL) && dispatcher_thread_of(t)->state == SCHEDULER_RUNNABLE) {
        struct scheduler *child = scheduler_of(dispatcher_thread_of(t));
        if (UNLIKELY(child->leaving) || UNLIKELY(dispatcher_trace != NULL))
            break;
        child->served = true;
        child->asked_for = false;
        *scheduler = child;
        t = SCHEDULE(child, &here->stop);
    }
    return t;
}

/* Decides whose turn it is: `turn`. Returns who runs on it. Some thread is RUNNABLE or LENDING, none is RUNNING. */
static inline __attribute__((always_inline)) struct dispatcher_thread *choose(struct processor *here) {
    if (UNLIKELY(--here->patience <= 0)) {
        struct dispatcher_thread *decided = dispatcher_attend();
        if (decided)
            return decided;
    }
    struct scheduler *scheduler = &dispatcher.root;
    struct catapults_thread *t = descend_usually(here, &scheduler, SCHEDULE(scheduler, &here->stop));
    if (UNLIKELY(!can_go_on(t)))
        return descend_from(here, scheduler, t);
    here->turn = dispatcher_thread_of(t);
    if (UNLIKELY(here->timed))
        dispatcher_arm(here);
    return here->turn;
}

/* The same when it may be that none is RUNNABLE. */
static inline struct dispatcher_thread *await(struct processor *here) {
    if (UNLIKELY(dispatcher.root.runnable == 0))
        dispatcher_await();
    return choose(here);
}

/* What C++ keeps for the kernel thread becomes that of `next`, and what else is to be exchanged (dispatcher_host).
 * `self` NULL: it has ended. */
static __attribute__((noinline)) void change_exceptions(struct processor *here, struct dispatcher_thread *self,
                                                        struct dispatcher_thread *next) {
    const struct dispatcher_exceptions none = {0};
    bool exchanges = dispatcher.host->exchange != NULL;
    if (self) {
        self->exceptions = *here->exceptions;
        self->excepted = self->exceptions.caught || self->exceptions.uncaught || exchanges;
    }
    *here->exceptions = next->excepted ? next->exceptions : none;
    next->excepted = false;
    if (exchanges)
        dispatcher.host->exchange(self == &here->idle ? NULL : self, next == &here->idle ? NULL : next);
}

/* Whether there are any. */
static inline bool are_exceptions(const struct processor *here, const struct dispatcher_thread *next) {
    return UNLIKELY(here->exceptions->caught != NULL) || UNLIKELY(here->exceptions->uncaught != 0) ||
           UNLIKELY(next->excepted);
}

/* `next` runs: what C keeps for the kernel thread is its own now. */
static inline __attribute__((always_inline)) void arrive(struct processor *here, struct dispatcher_thread *next) {
    *here->error_number = next->error_number;
    here->current = next;
}

static inline __attribute__((always_inline)) int change_context(struct processor *here, struct dispatcher_thread *self,
                                                                struct dispatcher_thread *next, bool by_call) {
    self->error_number = *here->error_number;
    arrive(here, next);
    return by_call ? context_switch_by_call(&self->context, &next->context)
                   : context_switch(&self->context, &next->context);
}

static __attribute__((noinline)) int change_all(struct dispatcher_thread *next, bool by_call) {
    struct processor *here = processor_here();
    struct dispatcher_thread *self = here->current;
    change_exceptions(here, self, next);
    return change_context(here, self, next, by_call);
}

/*
 * Goes on with `next`; returns 0 when somebody goes on with `self`. `by_call`: something is left to be done then, be it
 * to return to a function that called. Without that a yield ends in the switch itself and goes on straight in its
 * caller: a processor cannot foresee a return to another thread.
 */
static inline __attribute__((always_inline)) int change(struct processor *here, struct dispatcher_thread *self,
                                                        struct dispatcher_thread *next, bool by_call) {
    if (next == self)
        return 0;
    if (are_exceptions(here, next))
        return change_all(next, by_call);
    return change_context(here, self, next, by_call);
}

/* The same by one that has ended. */
static inline __attribute__((always_inline)) void
change_for_good(struct processor *here, struct dispatcher_thread *self, struct dispatcher_thread *next) {
    if (are_exceptions(here, next))
        change_exceptions(here, NULL, next);
    arrive(here, next);
    context_leave(&self->context, &next->context);
}

static inline __attribute__((always_inline)) void run_as(struct processor *here, struct dispatcher_thread *self,
                                                         struct dispatcher_thread *next, bool by_call) {
    if (UNLIKELY(dispatcher_trace != NULL))
        dispatcher_record_dispatch(next);
    if (!by_call && next == self && UNLIKELY(dispatcher.signalled))
        dispatcher.host->undisturbed();
    else
        change(here, self, next, by_call);
}

static inline __attribute__((always_inline)) void run(struct processor *here, struct dispatcher_thread *self,
                                                      struct dispatcher_thread *next) {
    run_as(here, self, next, false);
}

static inline __attribute__((always_inline)) void run_by_call(struct processor *here, struct dispatcher_thread *self,
                                                              struct dispatcher_thread *next) {
    run_as(here, self, next, true);
}

static inline void leave_for(struct processor *here, struct dispatcher_thread *self, struct dispatcher_thread *next) {
    if (UNLIKELY(dispatcher_trace != NULL))
        dispatcher_record_dispatch(next);
    change_for_good(here, self, next);
}

void dispatcher_set_guard(void (*enter)(void), void (*leave)(void), bool several) {
    dispatcher_guard =
        (struct dispatcher_guard){.guarded = enter != NULL, .several = several, .enter = enter, .leave = leave};
    dispatcher_find_shortcut();
}

void dispatcher_run(struct processor *here, struct dispatcher_thread *self, struct dispatcher_thread *next) {
    run_by_call(here, self, next);
}

/* An event was raised while `turn` was RUNNING: whether it has lost the processor. */
static inline bool preempted(struct dispatcher_thread *turn) {
    if (UNLIKELY(turn->scheduler->parent != NULL))
        return dispatcher_preempted(turn);
    if (LIKELY(!taken_from(turn)))
        return false;
    TRACE(TRACE_PREEMPTED, turn, 0);
    return true;
}

/* `current`, which runs on the turn of another, stops: who runs instead. An event of it may have woken others, such as
 * a thread that schedules it, and the turn may have been lost to them. */
static struct dispatcher_thread *go_on_without(struct processor *here) {
    struct dispatcher_thread *next = preempted(here->turn) ? NULL : dispatcher_borrow(here->turn);
    return next ? next : await(here);
}

/* The chain of the turn may end in another than `current` now. */
static __attribute__((noinline)) void regain(struct processor *here) {
    struct dispatcher_thread *self = here->current, *next = dispatcher_borrow(here->turn);
    if (next == self)
        return;
    TRACE(TRACE_SWITCHED_OUT, self, 0);
    run(here, self, next ? next : await(here));
}

/* An event was raised on behalf of others while `turn` is RUNNING: it may have lost the processor. */
static inline void preempt(void) {
    struct processor *here = processor_here();
    if (here->attends)
        return;
    if (UNLIKELY(preempted(here->turn)))
        run(here, here->current, choose(here));
    else if (UNLIKELY(here->turn != here->current))
        regain(here);
    else if (UNLIKELY(here->timed))
        dispatcher_arm(here); /* for whoever is ready since */
}

static void raise_suspend(struct dispatcher_thread *thread, const struct dispatcher_thread *runs) {
    struct scheduler *scheduler = thread->scheduler;
    bool was_running = UNLIKELY(dispatcher.several) && !taken_from(thread);
    thread->state = THREAD_SUSPENDED;
    scheduler->runnable--;
    const struct catapults_stop *stop = RAISE(scheduler, suspend_thread, &thread->policy);
    if (UNLIKELY(stop))
        dispatcher_contain(scheduler, "suspend_thread", stop, NULL, runs);
    TRACE(TRACE_SUSPENDED, thread, 0);
    dispatcher_noticed(scheduler);
    if (UNLIKELY(scheduler->parent != NULL) && !was_running) /* else those above give up, too */
        dispatcher_lost(scheduler, runs);
}

/* The thread, which was BLOCKED to its policy, is READY. */
static inline __attribute__((always_inline)) void raise_event(struct dispatcher_thread *thread,
                                                              const struct dispatcher_thread *runs) {
    if (UNLIKELY(thread->homeless)) {
        dispatcher_place_anew(thread, runs);
        return;
    }
    struct scheduler *scheduler = thread->scheduler;
    scheduler->runnable++;
    const struct catapults_stop *stop;
    if (UNLIKELY(thread->set_aside)) {
        thread->set_aside = false;
        tell(scheduler, true);
        stop = scheduler->handlers.resume_thread(scheduler->self, &thread->policy);
    } else {
        stop = RAISE(scheduler, event_raised, &thread->policy);
    }
    if (UNLIKELY(stop))
        dispatcher_contain(scheduler, "event_raised", stop, NULL, runs);
    TRACE(TRACE_RAISED, thread, 0);
    dispatcher_became_ready(thread);
    dispatcher_noticed(scheduler);
    if (UNLIKELY(scheduler->parent != NULL))
        dispatcher_gained(scheduler, runs);
}

/* `runs`, here and above: the thread that is RUNNING, or NULL. */
static void raise_unblock(struct dispatcher_thread *thread, const struct dispatcher_thread *runs) {
    if (UNLIKELY(timer_is_set(&thread->timer)))
        timer_cancel(&dispatcher.timers, &thread->timer);
    if (UNLIKELY(thread->waits_for != NULL) && dispatcher_stop_lending(thread, runs)) {
        thread->state = THREAD_RUNNABLE; /* as it is to its policy */
        return;
    }
    thread->state = THREAD_RUNNABLE;
    raise_event(thread, runs);
    if (UNLIKELY(thread->blocked_donors != NULL))
        dispatcher_rouse(thread, runs);
    dispatcher_changed(thread);
    if (UNLIKELY(thread->to_be_suspended)) {
        thread->to_be_suspended = false;
        raise_suspend(thread, runs);
    }
}

/* ---- Starting and ending ----------------------------------------------------------------------------------------- */

/* But for what the policy keeps of it. */
static inline __attribute__((always_inline)) void enrol(struct dispatcher_thread *thread, struct scheduler *scheduler) {
    thread->scheduler = scheduler;
    thread->policy.number = ++dispatcher.numbers;
    thread->newer = NULL;
    thread->older = dispatcher.newest;
    if (LIKELY(dispatcher.newest != NULL))
        dispatcher.newest->newer = thread;
    else
        dispatcher.oldest = thread;
    dispatcher.newest = thread;
    scheduler->runnable++;
}

static inline __attribute__((always_inline)) void strike(struct dispatcher_thread *thread) {
    if (thread->older)
        thread->older->newer = thread->newer;
    else
        dispatcher.oldest = thread->newer;
    if (thread->newer)
        thread->newer->older = thread->older;
    else
        dispatcher.newest = thread->older;
    foresight_forget(thread);
}

static void forget(struct dispatcher_thread *thread) {
    if (UNLIKELY(dispatcher.several))
        dispatcher_unlist_picky(thread);
}

/* Raises newthread. Returns what it was refused with. */
static const struct catapults_stop *admit(struct scheduler *scheduler, struct dispatcher_thread *thread,
                                          const struct dispatcher_thread *runs) {
    enrol(thread, scheduler);
    ADOPT(scheduler, &thread->policy);
    if (scheduler->consumed)
        dispatcher_clock_adopt(thread);
    dispatcher.host->adopted(thread);
    if (UNLIKELY(scheduler->lent_only)) {
        dispatcher.clients = true;
        dispatcher_find_shortcut();
    }
    if (UNLIKELY(scheduler->node != NULL) && !(scheduler = dispatcher_place(thread, scheduler, runs)))
        return NULL;
    const struct catapults_stop *stop = RAISE(scheduler, newthread, &thread->policy);
    if (UNLIKELY(stop)) {
        if (stop->why == CATAPULTS_STOP_FAIL) {
            forget(thread);
            strike(thread);
            scheduler->runnable--;
            return stop;
        }
        dispatcher_contain(scheduler, "newthread", stop, NULL, runs);
    }
    if (UNLIKELY(dispatcher_trace != NULL)) {
        TRACE(TRACE_NEW, thread, 0);
        dispatcher.host->recorded(thread);
    }
    dispatcher_noticed(scheduler);
    if (UNLIKELY(scheduler->parent != NULL))
        dispatcher_gained(scheduler, runs);
    return NULL;
}

unsigned long dispatcher_thread_size(const struct catapults_policy *policy) {
    unsigned long size =
        policy->thread_size > dispatcher_builtin.thread_size ? policy->thread_size : dispatcher_builtin.thread_size;
    return offsetof(struct dispatcher_thread, policy) + size;
}

const struct catapults_stop *dispatcher_start(const struct dispatcher_host *host, const struct catapults_policy *policy,
                                              void *instance, struct dispatcher_thread *first) {
    dispatcher_prepare(host, policy, instance);
    return dispatcher_start_under(&dispatcher.root, first);
}

void dispatcher_prepare(const struct dispatcher_host *host, const struct catapults_policy *policy, void *instance) {
    struct processor *here = processor_here();
    struct scheduler *root = &dispatcher.root;
    const struct dispatcher_driver *driver = dispatcher.driver;
    dispatcher_clear(&dispatcher, sizeof dispatcher);
    dispatcher.host = host;
    dispatcher.driver = driver;
    dispatcher.last = root;
    *here = (struct processor){
        .error_number = host->error_number, .exceptions = host->exceptions, .patience_full = 1, .scheduler = root};
    if (host->lock)
        dispatcher_several_prepare(here);
    if (!policy) {
        policy = compiled_in ? compiled_in : &dispatcher_builtin;
        instance = compiled_in ? compiled_in_instance : root->builtin;
    }
    if (UNLIKELY(policy->shared_size)) {
        dispatcher_nodes_start(here, policy, instance);
        return;
    }
    dispatcher_put_in_force(root, policy, instance);
    policy->start(instance);
    dispatcher_running_frames_start(root);
    dispatcher_clock_start(root);
    if (host->scheduler_started)
        host->scheduler_started(root);
    const struct catapults_stop *stop = root->handlers.init ? RAISE_INIT(root) : NULL;
    if (stop)
        dispatcher_contain(root, "init", stop, NULL, NULL);
}

const struct catapults_stop *dispatcher_start_under(struct scheduler *scheduler, struct dispatcher_thread *first) {
    struct processor *here = processor_here();
    uintptr_t name = first->name;
    record_clear(first);
    first->name = name;
    first->policy.container = 0;
    context_adopt(&first->context);
    here->current = first;
    here->turn = first;
    const struct catapults_stop *stop = admit(scheduler, first, NULL);
    if (!stop)
        run(here, first, choose(here));
    return stop;
}

static __attribute__((noinline)) const struct catapults_stop *create_in_general(struct scheduler *scheduler,
                                                                                struct dispatcher_thread *thread) {
    struct processor *here = processor_here();
    dispatcher_step_aside(here, thread);
    const struct catapults_stop *stop = admit(scheduler, thread, dispatcher_running());
    dispatcher_step_back(here);
    if (LIKELY(!stop))
        preempt();
    return stop;
}

/* For an event of the running thread: who lends to it is a blocked donor, and roused by the caller. */
static __attribute__((noinline)) struct processor *await_own_turn(struct processor *here) {
    struct dispatcher_thread *self = here->current;
    self->own_turn = true;
    while (here->turn != self) {
        struct dispatcher_thread *next = dispatcher_borrow(here->turn);
        run(here, self, next ? next : await(here));
        here = processor_here();
    }
    self->own_turn = false;
    return here;
}

void dispatcher_own_turn(void) {
    struct processor *here = processor_here();
    if (UNLIKELY(here->turn != here->current) && !here->current->scheduler->lent_only)
        await_own_turn(here);
}

/* It has ended, and the policy has been told, or has stopped. */
static __attribute__((noinline)) void end(struct processor *here, struct dispatcher_thread *self,
                                          struct dispatcher_thread *heir, const struct catapults_stop *stop) {
    if (UNLIKELY(stop))
        dispatcher_contain(self->scheduler, "exit", stop, NULL, NULL);
    TRACE(TRACE_EXITED, self, 0);
    bool gives_up = self->scheduler->parent != NULL,
         first = gives_up && dispatcher.several; /* see scheduler_records.c */
    if (UNLIKELY(first))
        dispatcher_give_up(self);
    if (heir)
        raise_unblock(heir, NULL);
    if (UNLIKELY(self->blocked_donors != NULL))
        dispatcher_rouse(self, NULL);
    if (UNLIKELY(gives_up && !first))
        dispatcher_give_up(self);
    leave_for(here, self, here->turn == self ? await(here) : go_on_without(here));
}

static __attribute__((noinline)) void exit_in_general(struct processor *here, struct dispatcher_thread *self,
                                                      struct dispatcher_thread *heir) {
    self->state = THREAD_ENDED;
    dispatcher_keep_as(NULL); /* a handler of signals may end it */
    forget(self);
    strike(self);
    self->scheduler->runnable--;
    end(here, self, heir, RAISE(self->scheduler, exit, &self->policy));
}

/* ---- While it lives ---------------------------------------------------------------------------------------------- */

/* With a thread those above it give the processor up: as dispatcher_give_up, for what is usual. */
static inline __attribute__((always_inline)) void give_up(struct dispatcher_thread *member) {
    for (struct scheduler *scheduler; (scheduler = member->scheduler)->parent; member = &scheduler->record) {
        struct dispatcher_thread *record = &scheduler->record;
        if (UNLIKELY(dispatcher.several) || UNLIKELY(record->state != SCHEDULER_RUNNABLE) ||
            UNLIKELY(scheduler->runnable == 0) || UNLIKELY(taken_from(record)) || UNLIKELY(dispatcher_trace != NULL)) {
            dispatcher_give_up(member);
            return;
        }
        const struct catapults_stop *stop = RAISE(record->scheduler, switch_out, &record->policy);
        if (UNLIKELY(stop))
            dispatcher_contain(record->scheduler, "switch_out", stop, NULL, NULL);
    }
}

static inline __attribute__((always_inline)) void yield(void) {
    struct processor *here = processor_here();
    struct dispatcher_thread *turn = here->turn;
    struct scheduler *scheduler = turn->scheduler;
    const struct catapults_stop *stop = RAISE(scheduler, switch_out, &turn->policy);
    if (UNLIKELY(stop))
        dispatcher_contain(scheduler, "switch_out", stop, NULL, NULL);
    TRACE(TRACE_SWITCHED_OUT, turn, 0);
    give_up(turn);
    struct dispatcher_thread *next = choose(here);
    run(here, here->current, next);
}

/* By a thread that an application's thread schedules: that is told, and may wake up. */
static __attribute__((noinline)) bool yields_to_its_scheduler(struct processor *here) {
    struct dispatcher_thread *self = here->current;
    if (!self->scheduler->lent_only)
        return false;
    RAISE(self->scheduler, switch_out, &self->policy);
    struct dispatcher_thread *next = preempted(here->turn) ? NULL : dispatcher_borrow(here->turn);
    if (next == self)
        return false;
    TRACE(TRACE_SWITCHED_OUT, self, 0);
    run(here, self, next ? next : await(here));
    return true;
}

static inline __attribute__((always_inline)) void yield_by_itself(void) {
    struct processor *here = processor_here();
    if (LIKELY(here->turn == here->current) || !yields_to_its_scheduler(here))
        yield();
}

void dispatcher_yield_inside(void) { yield_by_itself(); }

static __attribute__((noinline)) void yield_in_general(void) {
    if (LIKELY(!dispatcher_guard.guarded)) {
        yield_by_itself(); /* the switch is the last thing that it does: see `change` */
        return;
    }
    dispatcher_enter();
    yield_by_itself();
    dispatcher_leave();
}

int dispatcher_yield_to(struct dispatcher_thread *thread) {
    struct processor *here = processor_here();
    bool possible = dispatcher_ask_for(thread, here->turn);
    if (UNLIKELY(preempted(here->turn))) /* switch_out is for a thread that is RUNNING */
        run(here, here->current, choose(here));
    else
        yield();
    return possible ? 0 : EAGAIN;
}

const struct catapults_stop *dispatcher_attach(struct scheduler *scheduler, void *room) {
    struct processor *here = processor_here();
    struct dispatcher_thread *self = here->current;
    if (scheduler == self->scheduler || (scheduler->node && self->scheduler->node)) { /* that of the root is any */
        yield();
        return NULL;
    }
    if (UNLIKELY(here->turn != self)) {
        scheduler->attaching++; /* so that it does not end until then */
        here = await_own_turn(here);
        scheduler->attaching--;
    }
    const struct catapults_stop *stop = dispatcher_move(self, scheduler, room);
    if (UNLIKELY(self->blocked_donors != NULL))
        dispatcher_rouse(self, stop ? self : NULL);
    if (!stop)
        run(here, self, choose(here));
    else
        preempt();
    return stop;
}

static const char *const block_events[] = {"block.io.read", "block.io.write", "block.io.accept", "block.io.connect",
                                           "block.io.file", "block.lock",     "block.condition", "block.join",
                                           "block.sleep",   "block.kernel",   "block.scheduler", "block.port",
                                           "block.signal"};

/* The table has them in the order of the reasons. */
static inline __attribute__((always_inline)) native_thread_event *block_handler(const struct native_handlers *handlers,
                                                                                enum dispatcher_reason reason) {
    const char *first = (const char *)handlers + offsetof(struct native_handlers, block_io_read);
    return ((native_thread_event *const *)first)[reason];
}
_Static_assert(offsetof(struct native_handlers, block_signal) - offsetof(struct native_handlers, block_io_read) ==
                   BLOCK_SIGNAL * sizeof(native_thread_event *),
               "block_handler");

static inline const struct catapults_stop *raise_block(struct scheduler *scheduler, enum dispatcher_reason reason,
                                                       struct catapults_thread *t) {
    tell(scheduler, true);
    return block_handler(&scheduler->handlers, reason)(scheduler->self, t);
}

/* The thread is RUNNING, and cannot go on for its `reason`. */
static inline __attribute__((always_inline)) void stop_running(struct dispatcher_thread *thread,
                                                               enum dispatcher_reason reason) {
    struct scheduler *scheduler = thread->scheduler;
    thread->state = THREAD_BLOCKED;
    scheduler->runnable--;
    const struct catapults_stop *stop = raise_block(scheduler, reason, &thread->policy);
    if (UNLIKELY(stop))
        dispatcher_contain(scheduler, block_events[reason], stop, NULL, NULL);
    TRACE(TRACE_BLOCKED, thread, reason);
    if (UNLIKELY(scheduler->parent != NULL))
        dispatcher_give_up(thread);
}

/* The same of a thread that runs on the turn of another: that one is RUNNING, it is READY. */
static __attribute__((noinline)) struct dispatcher_thread *stop_borrowing(struct processor *here,
                                                                          struct dispatcher_thread *self) {
    dispatcher_set_aside(self);
    return go_on_without(here);
}

void dispatcher_set_aside(struct dispatcher_thread *thread) {
    raise_suspend(thread, dispatcher_running());
    thread->state = THREAD_BLOCKED;
    thread->set_aside = true;
}

static inline void begin_to_wait(struct processor *here, struct dispatcher_thread *self, enum dispatcher_reason reason,
                                 int64_t instant) {
    self->reason = (uint8_t)reason;
    self->timed_out = false;
    if (instant == DISPATCHER_FOREVER)
        return;
    timer_set(&dispatcher.timers, &self->timer, instant);
    if (instant <= here->attended)
        here->patience = 0;
}

static __attribute__((noinline)) int block_in_general(enum dispatcher_reason reason, int64_t instant) {
    struct processor *here = processor_here();
    struct dispatcher_thread *self = here->current;
    begin_to_wait(here, self, reason, instant);
    struct dispatcher_thread *next;
    if (LIKELY(here->turn == self)) {
        stop_running(self, reason);
        next = await(here);
    } else {
        next = stop_borrowing(here, self);
    }
    if (instant != DISPATCHER_FOREVER ? !here->armed || instant < here->armed
                                      : UNLIKELY(!here->armed) && reason <= BLOCK_IO_FILE)
        dispatcher_arm(here); /* `next` need not look after those who wait */
    run_by_call(here, self, next);
    return self->timed_out ? ETIMEDOUT : 0;
}

/* LENDING now, the thread `self` stops: who runs instead. Its turn goes on with another, unless that has been lost to
 * somebody whom `self` has woken just now. */
static struct dispatcher_thread *lend(struct processor *here, struct dispatcher_thread *self) {
    bool lost = preempted(here->turn);
    struct dispatcher_thread *next = lost ? NULL : dispatcher_borrow(here->turn);
    if (!lost || here->turn != self)
        TRACE(TRACE_SWITCHED_OUT, self, 0);
    return next ? next : await(here);
}

static __attribute__((noinline)) int wait_for(const uintptr_t *to, bool lends, enum dispatcher_reason reason,
                                              int64_t instant) {
    struct processor *here = processor_here();
    struct dispatcher_thread *self = here->current;
    self->waits_for = to;
    self->lends = lends;
    if (lends) {
        begin_to_wait(here, self, reason, instant);
        self->state = THREAD_LENDING;
        struct dispatcher_thread *next = lend(here, self);
        if (UNLIKELY(dispatcher.poller != NULL))
            dispatcher_tell_poller();
        if (instant != DISPATCHER_FOREVER && (!here->armed || instant < here->armed))
            dispatcher_arm(here);
        run_by_call(here, self, next);
    } else {
        block_in_general(reason, instant);
    }
    self->waits_for = NULL;
    self->lends = false;
    if (timer_is_set(&self->timer))
        timer_cancel(&dispatcher.timers, &self->timer);
    if (UNLIKELY(self->to_be_suspended)) {
        self->to_be_suspended = false;
        dispatcher_suspend(self);
    }
    return self->timed_out ? ETIMEDOUT : 0;
}

void dispatcher_released(void) {
    struct processor *here = processor_here();
    dispatcher_changed(here->current);
    if (UNLIKELY(here->turn != here->current))
        regain(here);
}

void dispatcher_raise_block(struct dispatcher_thread *thread) { stop_running(thread, thread->reason); }

void dispatcher_raise_event(struct dispatcher_thread *thread, const struct dispatcher_thread *runs) {
    raise_event(thread, runs);
}

static __attribute__((noinline)) void unblock_only_in_general(struct dispatcher_thread *thread) {
    struct processor *here = processor_here();
    dispatcher_step_aside(here, thread);
    raise_unblock(thread, dispatcher_running());
    dispatcher_step_back(here);
}

static __attribute__((noinline)) void unblock_in_general(struct dispatcher_thread *thread) {
    unblock_only_in_general(thread);
    preempt();
}

void dispatcher_unblocked(void) { preempt(); }

void dispatcher_suspend(struct dispatcher_thread *thread) {
    struct processor *here = processor_here();
    struct dispatcher_thread *self = here->current;
    switch ((enum dispatcher_state)thread->state) {
    case THREAD_RUNNABLE:
    case THREAD_MARKED:
        thread->to_be_suspended = false; /* who lent its turns, and has not run since, may be to */
        if (thread != self) {
            uint16_t frame = dispatcher_see(thread);
            raise_suspend(thread, here->turn);
            if (UNLIKELY(frame != NOBODY))
                dispatcher_seen(thread, frame);
            else if (UNLIKELY(thread->runs_in != NOBODY))
                dispatcher.turns_changed = true;
            preempt();
            break;
        }
        if (here->turn == self) {
            raise_suspend(self, NULL);
            if (UNLIKELY(self->scheduler->parent != NULL))
                dispatcher_give_up(self);
            run(here, self, await(here));
        } else {
            raise_suspend(self, here->turn);
            run(here, self, go_on_without(here));
        }
        break;
    case THREAD_BLOCKED:
    case THREAD_LENDING:
    case THREAD_POSTPONED:
        thread->to_be_suspended = true;
        break;
    case THREAD_SUSPENDED:
    case THREAD_ENDED:
    case SCHEDULER_RUNNABLE:
        break;
    }
}

int dispatcher_resume(struct dispatcher_thread *thread) {
    if (thread->to_be_suspended) {
        thread->to_be_suspended = false;
        return 0;
    }
    if (thread->state != THREAD_SUSPENDED)
        return EINVAL;
    struct scheduler *scheduler = thread->scheduler;
    thread->state = THREAD_RUNNABLE;
    if (UNLIKELY(thread->homeless)) {
        dispatcher_place_anew(thread, dispatcher_running());
        preempt();
        return 0;
    }
    scheduler->runnable++;
    struct processor *here = processor_here();
    dispatcher_step_aside(here, thread);
    const struct catapults_stop *stop = RAISE(scheduler, resume_thread, &thread->policy);
    if (UNLIKELY(stop))
        dispatcher_contain(scheduler, "resume_thread", stop, NULL, dispatcher_running());
    TRACE(TRACE_RESUMED, thread, 0);
    dispatcher_became_ready(thread);
    dispatcher_noticed(scheduler);
    if (UNLIKELY(scheduler->parent != NULL))
        dispatcher_gained(scheduler, dispatcher_running());
    dispatcher_step_back(here);
    if (UNLIKELY(thread->blocked_donors != NULL))
        dispatcher_rouse(thread, dispatcher_running());
    dispatcher_changed(thread);
    preempt();
    return 0;
}

/* ---- The same, by the shortcut ----------------------------------------------------------------------------------- */

#include "dispatcher/shortcut.h"

static __attribute__((noinline)) void yield_with_foresight(void) {
    if (LIKELY(dispatcher.shortcut == SHORTCUT_OF_MANY))
        yield_by_shortcut(true);
    else
        yield_in_general();
}

void dispatcher_yield(void) {
    if (LIKELY(dispatcher.shortcut == SHORTCUT))
        yield_by_shortcut(false);
    else
        yield_with_foresight();
}

int dispatcher_block(enum dispatcher_reason reason, int64_t instant) {
    struct processor *here = processor_here();
    struct dispatcher_thread *self = here->current;
    if (UNLIKELY(!may_block_by_shortcut(here, self, reason, instant)))
        return block_in_general(reason, instant);
    block_by_shortcut(here, self, reason);
    return 0;
}

int dispatcher_wait_for(const uintptr_t *to, bool lends, enum dispatcher_reason reason, int64_t instant) {
    struct processor *here = processor_here();
    struct dispatcher_thread *self = here->current;
    if (UNLIKELY(!may_block_by_shortcut(here, self, reason, instant)))
        return wait_for(to, lends, reason, instant);
    if (lends)
        return lend_by_shortcut(here, self, to, reason);
    self->waits_for = to;
    block_by_shortcut(here, self, reason);
    return 0;
}

int dispatcher_give_back(struct dispatcher_thread *thread) {
    struct processor *here = processor_here();
    struct dispatcher_thread *self = here->current;
    thread->state = THREAD_RUNNABLE;
    thread->waits_for = NULL;
    thread->lends = false;
    TRACE(TRACE_SWITCHED_OUT, self, 0);
    TRACE(TRACE_DISPATCHED, thread, 0);
    return change(here, self, thread, false);
}

__attribute__((flatten)) void dispatcher_unblock(struct dispatcher_thread *thread) {
    if (UNLIKELY(!dispatcher.shortcut) || UNLIKELY(!is_usual(thread))) {
        unblock_in_general(thread);
        return;
    }
    dispatcher.root.runnable++;
    const struct catapults_stop *stop = raise_event_by_shortcut(thread);
    if (UNLIKELY(stop))
        contain_and_preempt("event_raised", stop);
    else
        preempt_by_shortcut(processor_here());
}

void dispatcher_unblock_only(struct dispatcher_thread *thread) {
    if (UNLIKELY(!dispatcher.shortcut) || UNLIKELY(!is_usual(thread))) {
        unblock_only_in_general(thread);
        return;
    }
    dispatcher.root.runnable++;
    const struct catapults_stop *stop = raise_event_by_shortcut(thread);
    if (UNLIKELY(stop))
        dispatcher_contain(&dispatcher.root, "event_raised", stop, NULL, dispatcher_running());
}

const struct catapults_stop *dispatcher_create(struct scheduler *scheduler, struct dispatcher_thread *thread,
                                               struct stack *stack, void *top, void (*entry)(void *), void *argument) {
    context_make(&thread->context, stack, top, entry, argument);
    if (UNLIKELY(!dispatcher.shortcut) || UNLIKELY(scheduler != &dispatcher.root))
        return create_in_general(scheduler, thread);
    return create_by_shortcut(thread);
}

__attribute__((flatten)) void dispatcher_exit(struct dispatcher_thread *heir) {
    struct processor *here = processor_here();
    struct dispatcher_thread *self = here->current;
    if (UNLIKELY(!dispatcher.shortcut) || UNLIKELY(here->turn != self) || UNLIKELY(self->blocked_donors != NULL) ||
        (heir && UNLIKELY(!is_usual(heir))))
        exit_in_general(here, self, heir);
    else
        exit_by_shortcut(here, self, heir);
}

/* ---- Signals ----------------------------------------------------------------------------------------------------- */

TOOLS_UNSEEN void dispatcher_signalled(void) {
    dispatcher.signalled = true;
    processor_here()->patience = 0;
}

void dispatcher_expect_signals(bool expected) {
    dispatcher.signals_expected = expected;
    dispatcher.signals_begun = true;
}

/* ---- Kernel threads ---------------------------------------------------------------------------------------------- */

void dispatcher_carry(int *error_number, struct dispatcher_exceptions *exceptions) {
    struct processor *here = processor_here();
    here->error_number = error_number;
    here->exceptions = exceptions;
}

/* ---- For those who look ------------------------------------------------------------------------------------------ */

struct dispatcher_thread *dispatcher_self(void) { return processor_here()->current; }

const struct dispatcher_driver *dispatcher_set_driver(const struct dispatcher_driver *driver) {
    const struct dispatcher_driver *before = dispatcher.driver;
    dispatcher.driver = driver;
    return before;
}

const struct catapults_policy *dispatcher_policy(void) { return dispatcher.root.policy; }

const struct catapults_policy *dispatcher_compiled_in(void) { return compiled_in; }

struct dispatcher_thread *dispatcher_first_thread(void) { return dispatcher.oldest; }

struct dispatcher_thread *dispatcher_next_thread(const struct dispatcher_thread *thread) { return thread->newer; }

/* What all instances of the policy answer together, where there are some. */
#define TOTAL(query)                                                                                                   \
    const struct scheduler *asked = processor_here()->current->scheduler;                                              \
    if (LIKELY(!dispatcher.root.node || asked->parent))                                                                \
        return QUERY((struct scheduler *)asked, query);                                                                \
    int64_t total = 0;                                                                                                 \
    for (struct scheduler *node = &dispatcher.root; node && dispatcher.root.node; node = dispatcher_next_node(node))   \
        total += QUERY(node, query);

int64_t dispatcher_threads_ready(void) {
    TOTAL(threads_ready)
    return total;
}

int64_t dispatcher_threads_suspended(void) {
    TOTAL(threads_suspended)
    return total + dispatcher.homeless;
}

static int64_t threads_total(void) {
    TOTAL(threads_total)
    return total + dispatcher.homeless;
}

int64_t dispatcher_threads_total(void) {
    const struct processor *here = processor_here();
    const struct scheduler *asked = here->current->scheduler;
    if (!dispatcher.several || (dispatcher.root.node && !asked->parent))
        return threads_total();
    int64_t running = asked->parent ? dispatcher_running_under(asked) : dispatcher.running;
    return threads_total() + running - (dispatcher_member(asked, here->turn) != NULL);
}
