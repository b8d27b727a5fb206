/*
 * The dispatcher's face: an event comes in, events.h decides who goes on, and switch.h goes on with that. It is the one
 * file that a policy can be compiled into. Its hot paths (shortcut.h) touch the thread that leaves, the thread that
 * comes, and the policy's containers.
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
#include "core/blocked_donors.h"
#include "core/clock.h"
#include "core/containment.h"
#include "core/decide.h"
#include "core/donation.h"
#include "core/events.h"
#include "core/in_force.h"
#include "core/nodes.h"
#include "core/raise.h"
#include "core/ready.h"
#include "core/restart.h"
#include "core/running_frames.h"
#include "core/scheduler_records.h"
#include "core/schedulers.h"
#include "core/tree.h"
#include "dispatcher/switch.h"

struct core dispatcher;
struct dispatcher_thread *const *dispatcher_named;
struct processor dispatcher_processor = {.core = &dispatcher};
struct dispatcher_guard dispatcher_guard;

/* With several processors it is false from the beginning, and not written: it is read without the lock. */
void dispatcher_find_shortcut(void) {
    const struct scheduler *root = &dispatcher.root;
    bool alone = CAN_TAKE_SHORTCUT(root) && !root->next && !root->node && !dispatcher.clients && !dispatcher.recorder &&
                 !dispatcher_guard.guarded && !dispatcher.several;
    uint8_t shortcut = !alone ? NO_SHORTCUT : foresight_is_worth_it(processor_here()) ? SHORTCUT_OF_MANY : SHORTCUT;
    if (dispatcher.shortcut != shortcut)
        dispatcher.shortcut = shortcut;
}

void dispatcher_set_guard(void (*enter)(void), void (*leave)(void), bool several) {
    dispatcher_guard =
        (struct dispatcher_guard){.guarded = enter != NULL, .several = several, .enter = enter, .leave = leave};
    dispatcher_find_shortcut();
}

void dispatcher_run(struct processor *here, struct dispatcher_thread *self, struct dispatcher_thread *next) {
    run_by_call(here, self, next);
}

struct dispatcher_thread *dispatcher_decide_after_all(struct processor *here) {
    if (dispatcher.several)
        return core_decide_after_all(here);
    return dispatcher.root.runnable == 0 ? choose_nobody(here) : decide(here);
}

/* An event was raised on behalf of others: `current` goes on, unless it has been disturbed. */
static inline void go_on(void) {
    struct processor *here = processor_here();
    struct dispatcher_thread *next = after_event(here);
    if (UNLIKELY(next != NULL))
        run(here, here->current, next);
    else if (UNLIKELY(here->due))
        dispatcher_do_due(here);
}

/* ---- Starting and ending ----------------------------------------------------------------------------------------- */

const struct catapults_stop *dispatcher_start(const struct dispatcher_host *host, const struct catapults_policy *policy,
                                              void *instance, struct dispatcher_thread *first) {
    dispatcher_prepare(host, policy, instance);
    return dispatcher_start_under(&dispatcher.root, first);
}

void dispatcher_prepare(const struct dispatcher_host *host, const struct catapults_policy *policy, void *instance) {
    struct processor *here = processor_here();
    struct scheduler *root = &dispatcher.root;
    const struct dispatcher_driver *driver = dispatcher.driver;
    const struct recorder *recorder = dispatcher.recorder;
    core_clear(&dispatcher, sizeof dispatcher);
    dispatcher.host = host;
    dispatcher.driver = driver;
    dispatcher.named = &dispatcher_named;
    dispatcher.recorder = recorder;
    dispatcher.watch = &dispatcher_watch;
    dispatcher.yield_in_two = dispatcher_yield_in_two;
    dispatcher.last = root;
    *here = (struct processor){.core = &dispatcher,
                               .error_number = host->error_number,
                               .exceptions = host->exceptions,
                               .patience_full = 1,
                               .scheduler = root};
    if (host->lock)
        dispatcher_several_prepare(here);
    if (!policy) {
        policy = compiled_in ? compiled_in : &dispatcher_builtin;
        instance = compiled_in ? compiled_in_instance : root->builtin;
    }
    if (UNLIKELY(policy->shared_size)) {
        core_nodes_start(here, here, policy, instance);
        return;
    }
    core_put_in_force(here, root, policy, instance);
    policy->start(instance);
    core_seed(&dispatcher, root, instance);
    core_running_frames_start(here, root);
    core_clock_start(here, root);
    if (host->scheduler_started)
        host->scheduler_started(root);
    const struct catapults_stop *stop = root->handlers.init ? RAISE_INIT(root) : NULL;
    if (stop)
        core_contain(here, root, "init", stop, NULL, NULL);
    dispatcher_find_shortcut();
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
    const struct catapults_stop *stop = admit(here, scheduler, first, NULL);
    if (!stop)
        run(here, first, choose(here));
    return stop;
}

const struct catapults_stop *dispatcher_restart(void) {
    struct processor *here = processor_here();
    struct dispatcher_thread *self = here->current;
    uint32_t hold_depth = self->hold_depth;
    const struct catapults_stop *stop = core_restart(here);
    if (!stop)
        stop = dispatcher_start_under(self->scheduler->shared ? &dispatcher.root : self->scheduler, self);
    self->hold_depth = hold_depth;
    return stop;
}

static __attribute__((noinline)) const struct catapults_stop *create_in_general(struct scheduler *scheduler,
                                                                                struct dispatcher_thread *thread) {
    struct processor *here = processor_here();
    core_step_aside(here, thread);
    const struct catapults_stop *stop = admit(here, scheduler, thread, core_running(here));
    core_step_back(here);
    if (LIKELY(!stop))
        go_on();
    return stop;
}

/* For an event of the running thread. Meanwhile threads that lend to it are blocked donors, which the caller wakes. */
static __attribute__((noinline)) struct processor *await_own_turn(struct processor *here) {
    struct dispatcher_thread *self = here->current;
    self->own_turn = true;
    while (here->turn != self) {
        struct dispatcher_thread *next = core_borrow(here, here->turn);
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

static __attribute__((noinline)) void exit_in_general(struct processor *here, struct dispatcher_thread *self,
                                                      struct dispatcher_thread *heir) {
    self->state = THREAD_ENDED;
    dispatcher_keep_as(NULL); /* a handler of signals may end it */
    forget(here, self);
    strike(here, self);
    self->scheduler->runnable--;
    leave_for(here, self, after_exit(here, self, heir, RAISE(self->scheduler, exit, &self->policy)));
}

/* ---- While it lives ---------------------------------------------------------------------------------------------- */

static inline __attribute__((always_inline)) void yield(void) {
    struct processor *here = processor_here();
    struct dispatcher_thread *next = after_yield(here);
    run(here, here->current, next);
}

void dispatcher_yield_inside(void) { yield(); }

static __attribute__((noinline)) void yield_in_general(void) {
    if (LIKELY(!dispatcher_guard.guarded)) {
        yield(); /* the switch is the last thing that it does: see `change` */
        return;
    }
    dispatcher_enter();
    yield();
    dispatcher_leave();
}

int dispatcher_yield_to(struct dispatcher_thread *thread) {
    struct processor *here = processor_here();
    bool possible = core_ask_for(here, thread, here->turn);
    /* switch_out is for a thread that is RUNNING */
    run(here, here->current, UNLIKELY(preempted(here, here->turn)) ? choose(here) : give_up_turn(here));
    return possible ? 0 : EAGAIN;
}

const struct catapults_stop *dispatcher_attach(struct scheduler *scheduler, void *room) {
    struct processor *here = processor_here();
    struct dispatcher_thread *self = here->current;
    if (scheduler == self->scheduler || (scheduler->node && self->scheduler->node)) { /* any of them is that of the
                                                                                         root */
        run(here, self, give_up_turn(here));
        return NULL;
    }
    if (UNLIKELY(here->turn != self)) {
        scheduler->attaching++; /* so that it does not end until then */
        here = await_own_turn(here);
        scheduler->attaching--;
    }
    const struct catapults_stop *stop = core_move(here, self, scheduler, room);
    if (UNLIKELY(self->blocked_donors != NULL))
        core_rouse(here, self, stop ? self : NULL);
    if (!stop)
        run(here, self, choose(here));
    else
        go_on();
    return stop;
}

void core_set_aside(struct processor *here, struct dispatcher_thread *thread) { set_aside(here, thread); }

static __attribute__((noinline)) int block_in_general(enum dispatcher_reason reason, int64_t instant) {
    struct processor *here = processor_here();
    struct dispatcher_thread *self = here->current;
    run_by_call(here, self, after_block(here, self, reason, instant));
    return self->timed_out ? ETIMEDOUT : 0;
}

static __attribute__((noinline)) int wait_for(const uintptr_t *to, bool lends, enum dispatcher_reason reason,
                                              int64_t instant) {
    struct processor *here = processor_here();
    struct dispatcher_thread *self = here->current;
    self->waits_for = to;
    self->lends = lends;
    run_by_call(here, self, lends ? after_lend(here, self, reason, instant) : after_block(here, self, reason, instant));
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
    core_changed(here, here->current);
    if (LIKELY(here->turn == here->current))
        return;
    struct dispatcher_thread *next = go_on_with_turn(here);
    if (next)
        run(here, here->current, next);
}

/* Events of the core that its other files raise. */
void core_raise_block(struct processor *here, struct dispatcher_thread *thread) {
    stop_running(here, thread, thread->reason);
}

void core_raise_event(struct processor *here, struct dispatcher_thread *thread, const struct dispatcher_thread *runs) {
    raise_event(here, thread, runs);
}

static __attribute__((noinline)) void unblock_only_in_general(struct dispatcher_thread *thread) {
    struct processor *here = processor_here();
    core_step_aside(here, thread);
    raise_unblock(here, thread, core_running(here));
    core_step_back(here);
}

static __attribute__((noinline)) void unblock_in_general(struct dispatcher_thread *thread) {
    unblock_only_in_general(thread);
    go_on();
}

void dispatcher_unblocked(void) { go_on(); }

void dispatcher_suspend(struct dispatcher_thread *thread) {
    struct processor *here = processor_here();
    switch ((enum dispatcher_state)thread->state) {
    case THREAD_RUNNABLE:
    case THREAD_MARKED:
        thread->to_be_suspended = false; /* it may be left of a thread that lent its turns, and has not run since */
        struct dispatcher_thread *next = after_suspend(here, thread);
        if (next)
            run(here, here->current, next);
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
    raise_resume(processor_here(), thread);
    go_on();
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
        core_contain(processor_here(), &dispatcher.root, "event_raised", stop, NULL, core_running(processor_here()));
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
    core_look_next(processor_here());
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

/* What all instances of the policy answer together, if there are any. */
#define TOTAL(query)                                                                                                   \
    struct processor *here = processor_here();                                                                         \
    const struct scheduler *asked = here->current->scheduler;                                                          \
    if (LIKELY(!dispatcher.root.node || asked->parent))                                                                \
        return QUERY((struct scheduler *)asked, query);                                                                \
    int64_t total = 0;                                                                                                 \
    for (struct scheduler *node = &dispatcher.root; node && dispatcher.root.node; node = core_next_node(node))         \
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
    struct processor *here = processor_here();
    const struct scheduler *asked = here->current->scheduler;
    if (!dispatcher.several || (dispatcher.root.node && !asked->parent))
        return threads_total();
    int64_t running = asked->parent ? core_running_under(here, asked) : dispatcher.running;
    return threads_total() + running - (core_member(here, asked, here->turn) != NULL);
}
