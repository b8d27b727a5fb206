/*
 * Each event of a thread, and the decision that follows it: who goes on here. Nothing here changes contexts, or waits:
 * what is returned is for dispatcher.c, which does (switch.h). It is inlined there, since that is the one file that a
 * policy can be compiled into.
 *
 * `runs`: the thread that is RUNNING, or NULL.
 */
#ifndef CATAPULTS_EVENTS_H
#define CATAPULTS_EVENTS_H

#include "dispatcher/foresight.h"
#include "dispatcher/state.h"
#include "dispatcher/trace.h"

/* ---- Who is next ------------------------------------------------------------------------------------------------- */

/* What was dispatched is a thread that can. */
static inline bool can_go_on(struct catapults_thread *t) {
    return LIKELY(t != NULL) && LIKELY(dispatcher_thread_of(t)->state == THREAD_RUNNABLE);
}

/* The scheduler has dispatched `t`, or nothing. */
static __attribute__((noinline)) struct dispatcher_thread *
descend_from(struct processor *here, struct scheduler *scheduler, struct catapults_thread *t) {
    struct dispatcher_thread *thread = dispatcher_descend_from(here, scheduler, t);
    if (UNLIKELY(here->timed) && !here->due)
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
static inline __attribute__((always_inline)) struct dispatcher_thread *decide(struct processor *here) {
    struct scheduler *scheduler = &dispatcher.root;
    struct catapults_thread *t = descend_usually(here, &scheduler, SCHEDULE(scheduler, &here->stop));
    if (UNLIKELY(!can_go_on(t)))
        return descend_from(here, scheduler, t);
    here->turn = dispatcher_thread_of(t);
    if (UNLIKELY(here->timed))
        dispatcher_arm(here);
    return here->turn;
}

/* It is time to look outside before that. */
static __attribute__((noinline)) struct dispatcher_thread *choose_later(struct processor *here) {
    charge_samples(here);
    if (dispatcher.several)
        return dispatcher_decide(here);
    here->due = LOOK_OUTSIDE;
    return &here->idle;
}

/* The same, or `idle`, if something is due before that. */
static inline __attribute__((always_inline)) struct dispatcher_thread *choose(struct processor *here) {
    return UNLIKELY(--here->patience <= 0) ? choose_later(here) : decide(here);
}

static __attribute__((noinline)) struct dispatcher_thread *choose_nobody(struct processor *here) {
    here->due = WAIT_OUTSIDE;
    return &here->idle;
}

/* The same when it may be that none is RUNNABLE. */
static inline struct dispatcher_thread *await(struct processor *here) {
    return UNLIKELY(dispatcher.root.runnable == 0) && !dispatcher.several ? choose_nobody(here) : choose(here);
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

/* The chain of the turn may end in another than `current` now: who goes on in its place; NULL: nobody. */
static __attribute__((noinline)) struct dispatcher_thread *go_on_with_turn(struct processor *here) {
    struct dispatcher_thread *self = here->current, *next = dispatcher_borrow(here->turn);
    if (next == self)
        return NULL;
    TRACE(TRACE_SWITCHED_OUT, self, 0);
    return next ? next : await(here);
}

/* An event was raised on behalf of others while `turn` is RUNNING, which may have lost the processor: who goes on in the
 * place of `current`; NULL: nobody, it has not been disturbed. */
static inline struct dispatcher_thread *after_event(struct processor *here) {
    if (here->attends)
        return NULL;
    if (UNLIKELY(preempted(here->turn)))
        return choose(here);
    if (UNLIKELY(here->turn != here->current))
        return go_on_with_turn(here);
    if (UNLIKELY(here->timed))
        dispatcher_arm(here); /* for whoever is ready since */
    return NULL;
}

/* ---- A thread is suspended --------------------------------------------------------------------------------------- */

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

/* The thread, which is RUNNABLE, is suspended by `current`, which it may be: who goes on; NULL: `current` does. */
static struct dispatcher_thread *after_suspend(struct processor *here, struct dispatcher_thread *thread) {
    struct dispatcher_thread *self = here->current;
    if (thread != self) {
        uint16_t frame = dispatcher_see(thread);
        raise_suspend(thread, here->turn);
        if (UNLIKELY(frame != NOBODY))
            dispatcher_seen(thread, frame);
        else if (UNLIKELY(thread->runs_in != NOBODY))
            dispatcher.turns_changed = true;
        return after_event(here);
    }
    if (here->turn != self) {
        raise_suspend(self, here->turn);
        return go_on_without(here);
    }
    raise_suspend(self, NULL);
    if (UNLIKELY(self->scheduler->parent != NULL))
        dispatcher_give_up(self);
    return await(here);
}

/* ---- A thread is ready ------------------------------------------------------------------------------------------- */

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

/* The same of one that is SUSPENDED. */
static void raise_resume(struct dispatcher_thread *thread) {
    struct scheduler *scheduler = thread->scheduler;
    thread->state = THREAD_RUNNABLE;
    if (UNLIKELY(thread->homeless)) {
        dispatcher_place_anew(thread, dispatcher_running());
        return;
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
}

/* ---- A thread begins and ends ------------------------------------------------------------------------------------ */

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

/* It has ended, and the policy has been told, or has stopped: who goes on. */
static __attribute__((noinline)) struct dispatcher_thread *after_exit(struct processor *here,
                                                                      struct dispatcher_thread *self,
                                                                      struct dispatcher_thread *heir,
                                                                      const struct catapults_stop *stop) {
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
    return here->turn == self ? await(here) : go_on_without(here);
}

/* ---- A thread yields --------------------------------------------------------------------------------------------- */

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

/* What is RUNNING gives the processor up, and is READY: who goes on. */
static inline __attribute__((always_inline)) struct dispatcher_thread *give_up_turn(struct processor *here) {
    struct dispatcher_thread *turn = here->turn;
    struct scheduler *scheduler = turn->scheduler;
    const struct catapults_stop *stop = RAISE(scheduler, switch_out, &turn->policy);
    if (UNLIKELY(stop))
        dispatcher_contain(scheduler, "switch_out", stop, NULL, NULL);
    TRACE(TRACE_SWITCHED_OUT, turn, 0);
    give_up(turn);
    return choose(here);
}

/* By a thread that an application's thread schedules: that is told, and may wake up. NULL: it does not, or there is
 * none. */
static __attribute__((noinline)) struct dispatcher_thread *yield_to_scheduler(struct processor *here) {
    struct dispatcher_thread *self = here->current;
    if (!self->scheduler->lent_only)
        return NULL;
    RAISE(self->scheduler, switch_out, &self->policy);
    struct dispatcher_thread *next = preempted(here->turn) ? NULL : dispatcher_borrow(here->turn);
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

/* The thread, which is READY to its policy, cannot run. */
static void set_aside(struct dispatcher_thread *thread) {
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

/* The thread blocks: who goes on. If it runs on the turn of another, that one is RUNNING, and it is READY. */
static inline struct dispatcher_thread *after_block(struct processor *here, struct dispatcher_thread *self,
                                                    enum dispatcher_reason reason, int64_t instant) {
    begin_to_wait(here, self, reason, instant);
    struct dispatcher_thread *next;
    if (LIKELY(here->turn == self)) {
        stop_running(self, reason);
        next = await(here);
    } else {
        set_aside(self);
        next = go_on_without(here);
    }
    bool looks = instant != DISPATCHER_FOREVER ? !here->armed || instant < here->armed
                                               : UNLIKELY(!here->armed) && reason <= BLOCK_IO_FILE;
    if (looks && here->due != WAIT_OUTSIDE)
        dispatcher_arm(here); /* `next` need not look after those who wait */
    return next;
}

/* The thread lends its turn to whom it waits for: who goes on. That is on its turn, unless it has been lost to somebody
 * whom the thread has woken just now. */
static struct dispatcher_thread *after_lend(struct processor *here, struct dispatcher_thread *self,
                                            enum dispatcher_reason reason, int64_t instant) {
    begin_to_wait(here, self, reason, instant);
    self->state = THREAD_LENDING;
    bool lost = preempted(here->turn);
    struct dispatcher_thread *next = lost ? NULL : dispatcher_borrow(here->turn);
    if (!lost || here->turn != self)
        TRACE(TRACE_SWITCHED_OUT, self, 0);
    if (!next)
        next = await(here);
    if (UNLIKELY(dispatcher.poller != NULL))
        dispatcher_tell_poller();
    if (instant != DISPATCHER_FOREVER && (!here->armed || instant < here->armed) && here->due != WAIT_OUTSIDE)
        dispatcher_arm(here);
    return next;
}

#endif
