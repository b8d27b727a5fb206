/*
 * The shortcut, for the case that nothing else is to be asked: one processor; one scheduler, whose policy is the one
 * that the dispatcher was compiled for; nothing is recorded, and nobody asks for the time. Then an event is the call of
 * a handler, and the thread that the policy dispatched goes on. As soon as anything else comes up, each of these ways
 * ends in the general one of dispatcher.c. None calls anything in between, so nothing need be kept on the stack.
 *
 * Only dispatcher.c includes this.
 */
#ifndef CATAPULTS_SHORTCUT_H
#define CATAPULTS_SHORTCUT_H

/* The policy has dispatched something other than a thread that can run. */
static __attribute__((noinline)) void descend_and_run(struct catapults_thread *t, bool by_call) {
    struct processor *here = processor_here();
    run_as(here, here->current, descend(here, t), by_call);
}

static __attribute__((noinline)) void await_and_run(bool by_call) {
    struct processor *here = processor_here();
    run_as(here, here->current, await(here), by_call);
}

static __attribute__((noinline)) void arm_and_run(struct dispatcher_thread *next, bool by_call) {
    struct processor *here = processor_here();
    core_arm(here);
    run_as(here, here->current, next, by_call);
}

/* The policy stopped at an event of the thread that was RUNNING. */
static __attribute__((noinline)) void contain_and_run(const char *event, const struct catapults_stop *stop,
                                                      bool by_call) {
    core_contain(processor_here(), &dispatcher.root, event, stop, NULL, NULL);
    await_and_run(by_call);
}

/* Goes on with what the policy dispatched. The calling function must end with this. `foresee`: see foresight.h. */
static inline __attribute__((always_inline)) void go_on_by_shortcut(struct processor *here, struct catapults_thread *t,
                                                                    bool by_call, bool foresee) {
    if (UNLIKELY(!can_go_on(t))) {
        descend_and_run(t, by_call);
        return;
    }
    struct dispatcher_thread *next = here->turn = dispatcher_thread_of(t);
    if (foresee)
        foresight_next(here, next);
    if (UNLIKELY(here->timed))
        arm_and_run(next, by_call);
    else
        change(here, here->current, next, by_call);
}

/* The thread that was RUNNING no longer is. The calling function must end with this. */
static inline __attribute__((always_inline)) void decide_by_shortcut(struct processor *here, bool by_call) {
    if (UNLIKELY(here->patience <= 1)) {
        await_and_run(by_call);
    } else {
        here->patience--;
        go_on_by_shortcut(here, SCHEDULE_BY_SHORTCUT(&here->stop), by_call, false);
    }
}

/* It is time to look after other things, between the two events. */
static __attribute__((noinline)) void yield_and_attend(void) {
    const struct catapults_stop *stop = RAISE_BY_SHORTCUT(switch_out, &processor_here()->turn->policy);
    if (UNLIKELY(stop))
        contain_and_run("switch_out", stop, false);
    else
        await_and_run(false);
}

/* It was switch_out that stopped. */
static __attribute__((noinline)) void stop_yielding(void) {
    struct processor *here = processor_here();
    const struct catapults_stop *stop = here->stop;
    here->stop = NULL;
    contain_and_run("switch_out", stop, false);
}

static inline __attribute__((always_inline)) void yield_by_shortcut(bool foresee) {
    struct processor *here = processor_here();
    if (UNLIKELY(here->patience <= 1)) {
        yield_and_attend();
        return;
    }
    here->patience--;
    bool stopped;
    struct catapults_thread *t = yield_to_next_by_shortcut(here, &stopped);
    if (UNLIKELY(stopped))
        stop_yielding();
    else
        go_on_by_shortcut(here, t, false, foresee);
}

/* For ever, on a turn of its own, and if nobody has to look after what it waits for. */
static inline bool may_block_by_shortcut(const struct processor *here, const struct dispatcher_thread *self,
                                         enum dispatcher_reason reason, int64_t instant) {
    return LIKELY(dispatcher.shortcut) && LIKELY(instant == DISPATCHER_FOREVER) && LIKELY(here->turn == self) &&
           (LIKELY(reason > BLOCK_IO_FILE) || here->armed);
}

static inline __attribute__((always_inline)) void
block_by_shortcut(struct processor *here, struct dispatcher_thread *self, enum dispatcher_reason reason) {
    self->reason = (uint8_t)reason;
    self->state = THREAD_BLOCKED;
    dispatcher.root.runnable--;
    const struct catapults_stop *stop = BLOCKS_ALIKE ? RAISE_BY_SHORTCUT(block_lock, &self->policy)
                                                     : raise_block(here, &dispatcher.root, reason, &self->policy);
    if (UNLIKELY(stop))
        contain_and_run(block_events[reason], stop, true);
    else if (UNLIKELY(dispatcher.root.runnable == 0))
        await_and_run(true);
    else
        decide_by_shortcut(here, true);
}

static __attribute__((noinline)) int suspend_after_all(struct dispatcher_thread *self) {
    self->to_be_suspended = false;
    dispatcher_suspend(self);
    return 0;
}

/* For ever, to the thread that *to names, which goes on at once, on the turn of the caller. */
static inline __attribute__((always_inline)) int lend_by_shortcut(struct processor *here,
                                                                  struct dispatcher_thread *self, const uintptr_t *to,
                                                                  enum dispatcher_reason reason) {
    uintptr_t name = *to & ~NAME_OWN;
    struct dispatcher_thread *next = name_thread(here, name);
    if (UNLIKELY(!name) || ((name & NAME_IN_TABLE) && UNLIKELY(next->name != name)) || UNLIKELY(next == self) ||
        UNLIKELY(next->waits_for != NULL) || UNLIKELY(next->state != THREAD_RUNNABLE) || UNLIKELY(next->own_turn))
        return wait_for(to, true, reason, DISPATCHER_FOREVER);
    self->reason = (uint8_t)reason;
    self->state = THREAD_LENDING;
    self->waits_for = to;
    self->lends = true;
    change(here, self, next, false);
    self = processor_here()->current;
    self->waits_for = NULL;
    self->lends = false;
    return UNLIKELY(self->to_be_suspended) ? suspend_after_all(self) : context_return_by_jump(0);
}

/* Whether the thread only has to be told READY. */
static inline bool is_usual(const struct dispatcher_thread *thread) {
    return thread->state == THREAD_BLOCKED && !thread->unusual && !thread->blocked_donors &&
           !timer_is_set(&thread->timer);
}

/* The event of such a thread; the caller has counted it as RUNNABLE. */
static inline __attribute__((always_inline)) const struct catapults_stop *
raise_event_by_shortcut(struct dispatcher_thread *thread) {
    thread->waits_for = NULL;
    thread->state = THREAD_RUNNABLE;
    return RAISE_BY_SHORTCUT(event_raised, &thread->policy);
}

static __attribute__((noinline)) void contain_and_preempt(const char *event, const struct catapults_stop *stop) {
    core_contain(processor_here(), &dispatcher.root, event, stop, NULL, core_running(processor_here()));
    go_on();
}

static __attribute__((noinline)) void preempt_in_general(void) { go_on(); }

static inline __attribute__((always_inline)) void preempt_by_shortcut(struct processor *here) {
    const struct dispatcher_thread *turn = here->turn;
    if (UNLIKELY(POLICY_BY_SHORTCUT->classes[turn->policy.container] == CATAPULTS_READY) ||
        UNLIKELY(turn != here->current) || UNLIKELY(here->timed))
        preempt_in_general();
}

static __attribute__((noinline)) const struct catapults_stop *refuse_or_contain(struct dispatcher_thread *thread,
                                                                                const struct catapults_stop *stop) {
    if (stop->why == CATAPULTS_STOP_FAIL) {
        strike(processor_here(), thread);
        dispatcher.root.runnable--;
        return stop;
    }
    contain_and_preempt("newthread", stop);
    return NULL;
}

/* A new thread; returns what it was refused with. */
static inline __attribute__((always_inline)) const struct catapults_stop *
create_by_shortcut(struct dispatcher_thread *thread) {
    struct scheduler *root = &dispatcher.root;
    enrol(processor_here(), thread, root);
    ADOPT_BY_SHORTCUT(&thread->policy);
    if (ASKED_FOR_CONSUMED_BY_SHORTCUT)
        core_clock_adopt(thread);
    if (POLICY_BY_SHORTCUT->thread_imports_count > 0)
        dispatcher.host->adopted(thread);
    const struct catapults_stop *stop = RAISE_BY_SHORTCUT(newthread, &thread->policy);
    if (UNLIKELY(stop))
        return refuse_or_contain(thread, stop);
    preempt_by_shortcut(processor_here());
    return NULL;
}

/* The thread has ended. */
static __attribute__((noinline)) void leave_in_general(struct dispatcher_thread *self) {
    struct processor *here = processor_here();
    leave_for(here, self, await(here));
}

static __attribute__((noinline)) void descend_and_leave(struct dispatcher_thread *self, struct catapults_thread *t) {
    struct processor *here = processor_here();
    leave_for(here, self, descend(here, t));
}

static __attribute__((noinline)) void contain_and_leave(struct dispatcher_thread *self,
                                                        const struct catapults_stop *stop) {
    core_contain(processor_here(), &dispatcher.root, "event_raised", stop, NULL, NULL);
    leave_in_general(self);
}

/* For a thread that runs on a turn of its own, and to which nobody lends turns. */
static inline __attribute__((always_inline)) void
exit_by_shortcut(struct processor *here, struct dispatcher_thread *self, struct dispatcher_thread *heir) {
    self->state = THREAD_ENDED;
    strike(here, self);
    const struct catapults_stop *stop = RAISE_BY_SHORTCUT(exit, &self->policy);
    if (UNLIKELY(stop)) {
        dispatcher.root.runnable--;
        leave_for(here, self, after_exit(here, self, heir, stop));
        return;
    }
    if (!heir) {
        dispatcher.root.runnable--;
    } else {
        stop = raise_event_by_shortcut(heir);
        if (UNLIKELY(stop)) {
            contain_and_leave(self, stop);
            return;
        }
    }
    if (UNLIKELY(dispatcher.root.runnable == 0) || UNLIKELY(here->patience <= 1) || UNLIKELY(here->timed)) {
        leave_in_general(self);
        return;
    }
    here->patience--;
    struct catapults_thread *t = SCHEDULE_BY_SHORTCUT(&here->stop);
    if (UNLIKELY(!can_go_on(t))) {
        descend_and_leave(self, t);
        return;
    }
    struct dispatcher_thread *next = here->turn = dispatcher_thread_of(t);
    change_for_good(here, self, next);
}

#endif
