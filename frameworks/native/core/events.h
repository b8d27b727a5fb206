/*
 * Each event of a thread, and the decision that follows it: who goes on here. Nothing here changes contexts, or waits:
 * dispatcher.c does that with the result (switch.h). This is inlined there, because that is the one file that a policy
 * can be compiled into.
 *
 * `runs`: the thread that is RUNNING, or NULL.
 */
#ifndef CATAPULTS_CORE_EVENTS_H
#define CATAPULTS_CORE_EVENTS_H

#include "core/foresight.h"
#include "core/blocked_donors.h"
#include "core/clock.h"
#include "core/containment.h"
#include "core/decide.h"
#include "core/donation.h"
#include "core/frames.h"
#include "core/nodes.h"
#include "core/outside.h"
#include "core/quantum.h"
#include "core/raise.h"
#include "core/running_frames.h"
#include "core/tree.h"

/* ---- Who is next ------------------------------------------------------------------------------------------------- */

/* A thread was dispatched, and can run. */
static inline bool can_go_on(struct catapults_thread *t) {
    return LIKELY(t != NULL) && LIKELY(dispatcher_thread_of(t)->state == THREAD_RUNNABLE);
}

/* The scheduler has dispatched `t`, or nothing. */
static __attribute__((noinline)) struct dispatcher_thread *
descend_from(struct processor *here, struct scheduler *scheduler, struct catapults_thread *t) {
    struct dispatcher_thread *thread = core_descend_from(here, scheduler, t);
    if (UNLIKELY(here->timed) && !(here->due & UNDECIDED))
        core_arm(here);
    return thread;
}

/* The root has dispatched it. */
static struct dispatcher_thread *descend(struct processor *here, struct catapults_thread *t) {
    return descend_from(here, &here->core->root, t);
}

/* Goes down the tree while schedulers dispatch schedulers, and nothing is unusual. *scheduler is the one that
 * dispatched the result. */
static inline __attribute__((always_inline)) struct catapults_thread *
descend_usually(struct processor *here, struct scheduler **scheduler, struct catapults_thread *t) {
    while (LIKELY(t != NULL) && dispatcher_thread_of(t)->state == SCHEDULER_RUNNABLE) {
        struct scheduler *child = scheduler_of(dispatcher_thread_of(t));
        if (UNLIKELY(child->leaving) || UNLIKELY(here->core->recorder != NULL))
            break;
        child->served = true;
        child->asked_for = false;
        *scheduler = child;
        t = SCHEDULE(child, &here->stop);
    }
    return t;
}

/* Decides whose turn it is (`turn`), and returns who runs on it. Some thread is RUNNABLE or LENDING, none is
 * RUNNING. */
static inline __attribute__((always_inline)) struct dispatcher_thread *decide(struct processor *here) {
    struct scheduler *scheduler = &here->core->root;
    struct catapults_thread *t = descend_usually(here, &scheduler, SCHEDULE(scheduler, &here->stop));
    if (UNLIKELY(!can_go_on(t)))
        return descend_from(here, scheduler, t);
    here->turn = dispatcher_thread_of(t);
    if (UNLIKELY(here->timed))
        core_arm(here);
    return here->turn;
}

/* It is time to look outside before the decision. */
static __attribute__((noinline)) struct dispatcher_thread *choose_later(struct processor *here) {
    charge_samples(here);
    if (here->core->several)
        return core_decide(here);
    here->due |= LOOK_OUTSIDE;
    return &here->idle;
}

/* As decide, but returns `idle` if something is due before. */
static inline __attribute__((always_inline)) struct dispatcher_thread *choose(struct processor *here) {
    return UNLIKELY(--here->patience <= 0) ? choose_later(here) : decide(here);
}

static __attribute__((noinline)) struct dispatcher_thread *choose_nobody(struct processor *here) {
    here->due |= WAIT_OUTSIDE;
    return &here->idle;
}

/* The same if perhaps none is RUNNABLE. */
static inline struct dispatcher_thread *await(struct processor *here) {
    struct core *core = here->core;
    return UNLIKELY(core->root.runnable == 0) && !core->several ? choose_nobody(here) : choose(here);
}

/* After an event that was raised while `turn` was RUNNING: whether it has lost the processor. */
static inline bool preempted(struct processor *here, struct dispatcher_thread *turn) {
    if (UNLIKELY(turn->scheduler->parent != NULL))
        return core_preempted(here, turn);
    if (LIKELY(!taken_from(turn)))
        return false;
    TRACE(TRACE_PREEMPTED, turn, 0);
    return true;
}

/* `current`, which runs on the turn of another, stops: who runs instead. An event of it may have woken others, such as
 * a thread that schedules it, which may have taken the turn. */
static struct dispatcher_thread *go_on_without(struct processor *here) {
    struct dispatcher_thread *next = preempted(here, here->turn) ? NULL : core_borrow(here, here->turn);
    return next ? next : await(here);
}

/* The chain of the turn may end in another thread than `current` now: who goes on in its place; NULL: nobody. */
static __attribute__((noinline)) struct dispatcher_thread *go_on_with_turn(struct processor *here) {
    struct dispatcher_thread *self = here->current, *next = core_borrow(here, here->turn);
    if (next == self)
        return NULL;
    TRACE(TRACE_SWITCHED_OUT, self, 0);
    return next ? next : await(here);
}

/* After an event on behalf of others while `turn` is RUNNING, which may have lost the processor: who goes on in the
 * place of `current`; NULL: nobody, it has not been disturbed. */
static inline struct dispatcher_thread *after_event(struct processor *here) {
    if (here->attends)
        return NULL;
    if (UNLIKELY(preempted(here, here->turn)))
        return choose(here);
    if (UNLIKELY(here->turn != here->current))
        return go_on_with_turn(here);
    if (UNLIKELY(here->timed))
        core_arm(here); /* for those that have become ready */
    return NULL;
}

/* ---- A thread is suspended --------------------------------------------------------------------------------------- */

static void raise_suspend(struct processor *here, struct dispatcher_thread *thread,
                          const struct dispatcher_thread *runs) {
    struct scheduler *scheduler = thread->scheduler;
    bool was_running = UNLIKELY(here->core->several) && !taken_from(thread);
    thread->state = THREAD_SUSPENDED;
    scheduler->runnable--;
    const struct catapults_stop *stop = RAISE(scheduler, suspend_thread, &thread->policy);
    if (UNLIKELY(stop))
        core_contain(here, scheduler, "suspend_thread", stop, NULL, runs);
    TRACE(TRACE_SUSPENDED, thread, 0);
    core_noticed(here, scheduler);
    if (UNLIKELY(scheduler->parent != NULL) && !was_running) /* else those above give up, too */
        core_lost(here, scheduler, runs);
}

/* `current` suspends the thread, which is RUNNABLE, and may be `current` itself. Returns who goes on; NULL:
 * `current`. */
static struct dispatcher_thread *after_suspend(struct processor *here, struct dispatcher_thread *thread) {
    struct dispatcher_thread *self = here->current;
    if (thread != self) {
        uint16_t frame = core_see(here, thread);
        raise_suspend(here, thread, here->turn);
        if (UNLIKELY(frame != NOBODY))
            core_seen(here, thread, frame);
        else if (UNLIKELY(thread->runs_in != NOBODY))
            here->core->turns_changed = true;
        return after_event(here);
    }
    if (here->turn != self) {
        raise_suspend(here, self, here->turn);
        return go_on_without(here);
    }
    raise_suspend(here, self, NULL);
    if (UNLIKELY(self->scheduler->parent != NULL))
        core_give_up(here, self);
    return await(here);
}

/* ---- A thread is ready ------------------------------------------------------------------------------------------- */

/* The thread, which was BLOCKED to its policy, is READY. */
static inline __attribute__((always_inline)) void raise_event(struct processor *here, struct dispatcher_thread *thread,
                                                              const struct dispatcher_thread *runs) {
    if (UNLIKELY(thread->homeless)) {
        core_place_anew(here, thread, runs);
        return;
    }
    struct scheduler *scheduler = thread->scheduler;
    scheduler->runnable++;
    const struct catapults_stop *stop;
    if (UNLIKELY(thread->set_aside)) {
        thread->set_aside = false;
        tell(here, scheduler, true);
        stop = scheduler->handlers.resume_thread(scheduler->self, &thread->policy);
    } else {
        stop = RAISE(scheduler, event_raised, &thread->policy);
    }
    if (UNLIKELY(stop))
        core_contain(here, scheduler, "event_raised", stop, NULL, runs);
    TRACE(TRACE_RAISED, thread, 0);
    core_became_ready(here, thread);
    core_noticed(here, scheduler);
    if (UNLIKELY(scheduler->parent != NULL))
        core_gained(here, scheduler, runs);
}

static void raise_unblock(struct processor *here, struct dispatcher_thread *thread,
                          const struct dispatcher_thread *runs) {
    if (UNLIKELY(timer_is_set(&thread->timer)))
        timer_cancel(&here->core->timers, &thread->timer);
    if (UNLIKELY(thread->waits_for != NULL) && core_stop_lending(here, thread, runs)) {
        thread->state = THREAD_RUNNABLE; /* as it is to its policy */
        return;
    }
    thread->state = THREAD_RUNNABLE;
    raise_event(here, thread, runs);
    if (UNLIKELY(thread->blocked_donors != NULL))
        core_rouse(here, thread, runs);
    core_changed(here, thread);
    if (UNLIKELY(thread->to_be_suspended)) {
        thread->to_be_suspended = false;
        raise_suspend(here, thread, runs);
    }
}

/* The same for a SUSPENDED thread. */
static void raise_resume(struct processor *here, struct dispatcher_thread *thread) {
    struct scheduler *scheduler = thread->scheduler;
    thread->state = THREAD_RUNNABLE;
    if (UNLIKELY(thread->homeless)) {
        core_place_anew(here, thread, core_running(here));
        return;
    }
    scheduler->runnable++;
    core_step_aside(here, thread);
    const struct catapults_stop *stop = RAISE(scheduler, resume_thread, &thread->policy);
    if (UNLIKELY(stop))
        core_contain(here, scheduler, "resume_thread", stop, NULL, core_running(here));
    TRACE(TRACE_RESUMED, thread, 0);
    core_became_ready(here, thread);
    core_noticed(here, scheduler);
    if (UNLIKELY(scheduler->parent != NULL))
        core_gained(here, scheduler, core_running(here));
    core_step_back(here);
    if (UNLIKELY(thread->blocked_donors != NULL))
        core_rouse(here, thread, core_running(here));
    core_changed(here, thread);
}

/* ---- A thread begins and ends ------------------------------------------------------------------------------------ */

/* Without what the policy keeps of it. */
static inline __attribute__((always_inline)) void enrol(struct processor *here, struct dispatcher_thread *thread,
                                                        struct scheduler *scheduler) {
    struct core *core = here->core;
    thread->scheduler = scheduler;
    thread->policy.number = ++core->numbers;
    thread->newer = NULL;
    thread->older = core->newest;
    if (LIKELY(core->newest != NULL))
        core->newest->newer = thread;
    else
        core->oldest = thread;
    core->newest = thread;
    scheduler->runnable++;
}

static inline __attribute__((always_inline)) void strike(struct processor *here, struct dispatcher_thread *thread) {
    struct core *core = here->core;
    if (thread->older)
        thread->older->newer = thread->newer;
    else
        core->oldest = thread->newer;
    if (thread->newer)
        thread->newer->older = thread->older;
    else
        core->newest = thread->older;
    foresight_forget(here, thread);
}

static void forget(struct processor *here, struct dispatcher_thread *thread) {
    if (UNLIKELY(here->core->several))
        core_unlist_picky(here, thread);
}

/* Raises newthread. Returns what it was refused with, or NULL. */
static const struct catapults_stop *admit(struct processor *here, struct scheduler *scheduler,
                                          struct dispatcher_thread *thread, const struct dispatcher_thread *runs) {
    struct core *core = here->core;
    enrol(here, thread, scheduler);
    ADOPT(scheduler, &thread->policy);
    if (scheduler->consumed)
        core_clock_adopt(thread);
    core->host->adopted(thread);
    if (UNLIKELY(scheduler->lent_only)) {
        core->clients = true;
        core_lose_shortcut(core);
    }
    if (UNLIKELY(scheduler->node != NULL) && !(scheduler = core_place(here, thread, scheduler, runs)))
        return NULL;
    const struct catapults_stop *stop = RAISE(scheduler, newthread, &thread->policy);
    if (UNLIKELY(stop)) {
        if (stop->why == CATAPULTS_STOP_FAIL) {
            forget(here, thread);
            strike(here, thread);
            scheduler->runnable--;
            return stop;
        }
        core_contain(here, scheduler, "newthread", stop, NULL, runs);
    }
    if (UNLIKELY(here->core->recorder != NULL)) {
        TRACE(TRACE_NEW, thread, 0);
        core->host->recorded(thread);
    }
    core_noticed(here, scheduler);
    if (UNLIKELY(scheduler->parent != NULL))
        core_gained(here, scheduler, runs);
    return NULL;
}

/* It has ended, and the policy has been told, or has stopped. */
static void ended(struct processor *here, struct dispatcher_thread *self, struct dispatcher_thread *heir,
                  const struct catapults_stop *stop) {
    if (UNLIKELY(stop))
        core_contain(here, self->scheduler, "exit", stop, NULL, NULL);
    TRACE(TRACE_EXITED, self, 0);
    bool gives_up = self->scheduler->parent != NULL,
         first = gives_up && here->core->several; /* see scheduler_records.c */
    if (UNLIKELY(first))
        core_give_up(here, self);
    if (heir)
        raise_unblock(here, heir, NULL);
    if (UNLIKELY(self->blocked_donors != NULL))
        core_rouse(here, self, NULL);
    if (UNLIKELY(gives_up && !first))
        core_give_up(here, self);
}

/* The same: who goes on. */
static __attribute__((noinline)) struct dispatcher_thread *after_exit(struct processor *here,
                                                                      struct dispatcher_thread *self,
                                                                      struct dispatcher_thread *heir,
                                                                      const struct catapults_stop *stop) {
    ended(here, self, heir, stop);
    return here->turn == self ? await(here) : go_on_without(here);
}

/* ---- A thread yields --------------------------------------------------------------------------------------------- */

/* Those above a thread give the processor up with it: as core_give_up, for the usual case. */
static inline __attribute__((always_inline)) void give_up(struct processor *here, struct dispatcher_thread *member) {
    for (struct scheduler *scheduler; (scheduler = member->scheduler)->parent; member = &scheduler->record) {
        struct dispatcher_thread *record = &scheduler->record;
        if (UNLIKELY(here->core->several) || UNLIKELY(record->state != SCHEDULER_RUNNABLE) ||
            UNLIKELY(scheduler->runnable == 0) || UNLIKELY(taken_from(record)) ||
            UNLIKELY(here->core->recorder != NULL)) {
            core_give_up(here, member);
            return;
        }
        const struct catapults_stop *stop = RAISE(record->scheduler, switch_out, &record->policy);
        if (UNLIKELY(stop))
            core_contain(here, record->scheduler, "switch_out", stop, NULL, NULL);
    }
}

/* What is RUNNING gives the processor up, and is READY: who goes on. */
static inline __attribute__((always_inline)) struct dispatcher_thread *give_up_turn(struct processor *here) {
    struct dispatcher_thread *turn = here->turn;
    struct scheduler *scheduler = turn->scheduler;
    const struct catapults_stop *stop = RAISE(scheduler, switch_out, &turn->policy);
    if (UNLIKELY(stop))
        core_contain(here, scheduler, "switch_out", stop, NULL, NULL);
    TRACE(TRACE_SWITCHED_OUT, turn, 0);
    give_up(here, turn);
    return choose(here);
}

/* `current`, which an application's thread schedules, yields. That thread is told, and may wake up. NULL: it does not,
 * or there is none. */
static __attribute__((noinline)) struct dispatcher_thread *yield_to_scheduler(struct processor *here) {
    struct dispatcher_thread *self = here->current;
    if (!self->scheduler->lent_only)
        return NULL;
    RAISE(self->scheduler, switch_out, &self->policy);
    struct dispatcher_thread *next = preempted(here, here->turn) ? NULL : core_borrow(here, here->turn);
    if (next == self)
        return NULL;
    TRACE(TRACE_SWITCHED_OUT, self, 0);
    return next ? next : await(here);
}

/* `current` yields: who goes on. */
static inline __attribute__((always_inline)) struct dispatcher_thread *after_yield(struct processor *here) {
    struct dispatcher_thread *next = LIKELY(here->turn == here->current) ? NULL : yield_to_scheduler(here);
    return UNLIKELY(next != NULL) ? next : give_up_turn(here);
}

/* ---- A thread waits ---------------------------------------------------------------------------------------------- */

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

static inline const struct catapults_stop *raise_block(struct processor *here, struct scheduler *scheduler,
                                                       enum dispatcher_reason reason, struct catapults_thread *t) {
    tell(here, scheduler, true);
    return block_handler(&scheduler->handlers, reason)(scheduler->self, t);
}

/* The RUNNING thread cannot go on for its `reason`. */
static inline __attribute__((always_inline)) void stop_running(struct processor *here, struct dispatcher_thread *thread,
                                                               enum dispatcher_reason reason) {
    struct scheduler *scheduler = thread->scheduler;
    thread->state = THREAD_BLOCKED;
    scheduler->runnable--;
    const struct catapults_stop *stop = raise_block(here, scheduler, reason, &thread->policy);
    if (UNLIKELY(stop))
        core_contain(here, scheduler, block_events[reason], stop, NULL, NULL);
    TRACE(TRACE_BLOCKED, thread, reason);
    if (UNLIKELY(scheduler->parent != NULL))
        core_give_up(here, thread);
}

/* A thread that is READY to its policy cannot run. */
static void set_aside(struct processor *here, struct dispatcher_thread *thread) {
    raise_suspend(here, thread, core_running(here));
    thread->state = THREAD_BLOCKED;
    thread->set_aside = true;
}

static inline void begin_to_wait(struct processor *here, struct dispatcher_thread *self, enum dispatcher_reason reason,
                                 int64_t instant) {
    self->reason = (uint8_t)reason;
    self->timed_out = false;
    if (instant == DISPATCHER_FOREVER)
        return;
    timer_set(&here->core->timers, &self->timer, instant);
    if (instant <= here->attended)
        core_look_next(here);
}

/* The thread blocks: who goes on. If it runs on the turn of another, that one is RUNNING, and it is READY. */
static inline struct dispatcher_thread *after_block(struct processor *here, struct dispatcher_thread *self,
                                                    enum dispatcher_reason reason, int64_t instant) {
    begin_to_wait(here, self, reason, instant);
    struct dispatcher_thread *next;
    if (LIKELY(here->turn == self)) {
        stop_running(here, self, reason);
        next = await(here);
    } else {
        set_aside(here, self);
        next = go_on_without(here);
    }
    bool looks = instant != DISPATCHER_FOREVER ? !here->armed || instant < here->armed
                                               : UNLIKELY(!here->armed) && reason <= BLOCK_IO_FILE;
    if (looks && !(here->due & WAIT_OUTSIDE))
        core_arm(here); /* `next` need not look after those that wait */
    return next;
}

/* The thread lends its turn to the one that it waits for: who goes on. That is the other, on this turn, unless a thread
 * that was woken just now has taken the turn. */
static struct dispatcher_thread *after_lend(struct processor *here, struct dispatcher_thread *self,
                                            enum dispatcher_reason reason, int64_t instant) {
    begin_to_wait(here, self, reason, instant);
    self->state = THREAD_LENDING;
    bool lost = preempted(here, here->turn);
    struct dispatcher_thread *next = lost ? NULL : core_borrow(here, here->turn);
    if (!lost || here->turn != self)
        TRACE(TRACE_SWITCHED_OUT, self, 0);
    if (!next)
        next = await(here);
    if (UNLIKELY(here->core->poller != NULL))
        core_tell_poller(here);
    if (instant != DISPATCHER_FOREVER && (!here->armed || instant < here->armed) && !(here->due & WAIT_OUTSIDE))
        core_arm(here);
    return next;
}

#endif
