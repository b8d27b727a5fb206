/*
 * The core in virtual time: see simulated.h. `polling` says that nobody is RUNNING, as it does in a process.
 */
#include "simulated.h"

#include "catapults/random.h"
#include "core/expiry.h"
#include "core/in_force.h"
#include "core/schedulers.h"
#include "core/told.h"
#include "instance.h"

_Thread_local struct simulated *simulated_at_work;

static struct processor *enter(struct simulated *of) {
    simulated_at_work = of;
    return &of->here;
}

static void assign(char *base, struct simulated_values values) {
    for (uint64_t i = 0; i < values.count; i++)
        __builtin_memcpy(base + values.values[i].offset, &values.values[i].bits, values.values[i].size);
}

/* ---- What the core asks ------------------------------------------------------------------------------------------ */

static int64_t now(void) { return simulated_at_work->state.now; }

static void adopted(struct dispatcher_thread *thread) { assign((char *)&thread->policy, simulated_at_work->of_new); }

static void scheduler_adopted(struct dispatcher_thread *record) {
    assign((char *)&record->policy, kept_of(scheduler_of(record))->at_parent);
}

static void scheduler_started(struct scheduler *scheduler) {
    assign(scheduler->instance, kept_of(scheduler)->own);
    if (scheduler->policy->random) /* the core takes the seed 0 for none */
        catapults_random_seed((struct catapults_random *)((char *)scheduler->instance + scheduler->policy->random),
                              simulated_at_work->host.seed + scheduler->before);
}

/* Of a new thread, all is known that is wanted. */
static void recorded(struct dispatcher_thread *thread) { (void)thread; }

static void contained(const struct dispatcher_failure *failure) {
    struct simulated_failure *first = &simulated_at_work->state.failure;
    if (!first->failed)
        *first = (struct simulated_failure){true, failure->event, failure->stop, failure->text};
}

void core_raise_block(struct processor *here, struct dispatcher_thread *thread) {
    stop_running(here, thread, thread->reason);
}

void core_raise_event(struct processor *here, struct dispatcher_thread *thread, const struct dispatcher_thread *runs) {
    raise_event(here, thread, runs);
}

void core_set_aside(struct processor *here, struct dispatcher_thread *thread) { set_aside(here, thread); }

/* ---- Turns ------------------------------------------------------------------------------------------------------- */

/* Nobody is RUNNING any more. */
static void end_turn(struct processor *here) {
    here->polling = true;
    here->turn = NULL;
    here->current = &here->idle;
}

static void suspend(struct simulated *of, struct dispatcher_thread *thread);

/* `next` runs on the turn, which has just begun or goes on. NULL: nobody does, and the turn has ended. */
static void go_on(struct simulated *of, struct dispatcher_thread *next, bool begins) {
    struct processor *here = &of->here;
    if (!next) {
        end_turn(here);
        return;
    }
    here->current = next;
    if (next != here->turn || !begins)
        simulated_note(of, TRACE_LENT, next, 0, NUMBER(schedule));
    if (next->to_be_suspended) {
        next->to_be_suspended = false;
        struct simulated_thread **last = &of->suspended;
        while (*last)
            last = &(*last)->next;
        *last = simulated_of(next);
        suspend(of, next);
    }
}

/* After an event: if the turn has lost the processor, it gives it up. */
static void preempt(struct simulated *of, uint32_t event) {
    struct processor *here = &of->here;
    if (here->polling)
        return;
    of->taken = false;
    of->taken_by = event;
    of->preempting = true;
    bool lost = preempted(here, here->turn);
    of->preempting = false;
    if (lost)
        end_turn(here);
}

static void preempt_at_last(struct simulated *of) {
    if (of->taken)
        preempt(of, of->taken_by);
}

static void borrow(struct simulated *of) { go_on(of, core_borrow(&of->here, of->here.turn), false); }

/* Something has become READY. */
static void happened(struct simulated *of) { of->declined = false; }

/* The running thread blocks by suspend_thread, because its policy has it READY. */
static void block_aside(struct simulated *of, struct dispatcher_thread *self) {
    of->blocks_aside = true;
    set_aside(&of->here, self);
    of->blocks_aside = false;
}

/* ---- Schedulers -------------------------------------------------------------------------------------------------- */

uint64_t simulated_size(void) { return sizeof(struct simulated); }

uint64_t simulated_instance_size(const struct catapults_policy *policy) { return core_instance_size(policy, false); }

void simulated_begin(struct simulated *of, const struct catapults_policy *policy, void *instance, uint64_t seed,
                     struct simulated_values values, void (*record)(void *to, const struct simulated_record *record),
                     void *to) {
    struct processor *here = enter(of);
    struct scheduler *root = &of->core.root;
    of->host = (struct dispatcher_host){.now = now,
                                        .adopted = adopted,
                                        .scheduler_adopted = scheduler_adopted,
                                        .scheduler_started = scheduler_started,
                                        .seed = seed,
                                        .recorded = recorded,
                                        .contained = contained};
    of->record = record;
    of->to = to;
    of->core.host = &of->host;
    of->core.last = root;
    if (record) {
        of->core.watch = &simulated_watch;
        of->core.recorder = &simulated_recorder;
    }
    of->root.own = values;
    root->host = &of->root;
    of->told = root;
    *here = (struct processor){.core = &of->core, .patience_full = 1, .scheduler = root};
    end_turn(here);
    core_put_in_force(here, root, policy, instance);
    policy->start(instance);
    core_running_frames_start(here, root);
    core_clock_start(here, root);
    scheduler_started(root);
    const struct catapults_stop *stop = root->handlers.init ? RAISE_INIT(root) : NULL;
    if (stop)
        core_contain(here, root, "init", stop, NULL, NULL);
}

uint64_t simulated_scheduler_size(const struct catapults_policy *parent) {
    struct scheduler above = {.policy = parent};
    return offsetof(struct simulated_scheduler, scheduler) + core_scheduler_size(&above);
}

static struct scheduler *scheduler_or_root(struct simulated *of, struct simulated_scheduler *scheduler) {
    return scheduler ? &scheduler->scheduler : &of->core.root;
}

bool simulated_add(struct simulated *of, struct simulated_scheduler *scheduler, struct simulated_scheduler *parent,
                   uint32_t number, const struct catapults_policy *policy, void *instance,
                   struct simulated_values at_parent, struct simulated_values own) {
    struct processor *here = enter(of);
    scheduler->kept = (struct kept){.number = ++of->schedulers, .record = number, .at_parent = at_parent, .own = own};
    scheduler->scheduler.host = &scheduler->kept;
    return !core_add(here, &scheduler->scheduler, scheduler_or_root(of, parent), NULL, policy, instance);
}

struct simulated_state *simulated_state(struct simulated *of) { return &of->state; }

int64_t simulated_next_timeout(struct simulated *of) { return core_first_instant(&of->core); }

bool simulated_someone_waits(struct simulated *of) {
    struct processor *here = &of->here;
    const struct dispatcher_thread *turn = here->polling ? NULL : here->turn;
    for (const struct scheduler *scheduler = &of->core.root; scheduler; scheduler = scheduler->next)
        if (scheduler->runnable > (turn && core_member(here, scheduler, turn) ? 1 : 0))
            return true;
    return false;
}

/* ---- Threads ----------------------------------------------------------------------------------------------------- */

uint64_t simulated_thread_size(const struct catapults_policy *policy) {
    return offsetof(struct simulated_thread, record) + core_thread_size(policy);
}

const struct catapults_stop *simulated_create(struct simulated *of, struct simulated_thread *thread, uint32_t number,
                                              struct simulated_scheduler *scheduler, struct simulated_values values,
                                              uint32_t event) {
    struct processor *here = enter(of);
    thread->number = number;
    of->of_new = values;
    const struct catapults_stop *stop =
        admit(here, scheduler_or_root(of, scheduler), &thread->record, core_running(here));
    if (stop) {
        simulated_note(of, TRACE_REFUSED, &thread->record, stop->line, NUMBER(newthread));
        return stop;
    }
    happened(of);
    preempt(of, event);
    return NULL;
}

struct catapults_thread *simulated_policy_part(struct simulated_thread *thread) { return &thread->record.policy; }

uint32_t simulated_turn(const struct simulated *of) { return of->here.polling ? 0 : number_of(of->here.turn); }

uint32_t simulated_current(const struct simulated *of) { return of->here.polling ? 0 : number_of(of->here.current); }

bool simulated_has_lost(struct simulated *of) { return !of->here.polling && core_is_taken(&of->here, of->here.turn); }

uint32_t simulated_take_suspended(struct simulated *of) {
    struct simulated_thread *first = of->suspended;
    if (!first)
        return 0;
    of->suspended = first->next;
    first->next = NULL;
    return first->number;
}

bool simulated_is_suspended(const struct simulated_thread *thread) { return thread->record.state == THREAD_SUSPENDED; }

bool simulated_is_to_be_suspended(const struct simulated_thread *thread) { return thread->record.to_be_suspended; }

/* ---- What happens ------------------------------------------------------------------------------------------------ */

void simulated_yield(struct simulated *of, uint32_t switch_out) {
    struct processor *here = enter(of);
    if (here->polling)
        return;
    happened(of);
    if (core_is_taken(here, here->turn)) {
        preempt(of, of->taken ? of->taken_by : switch_out);
        return;
    }
    struct dispatcher_thread *turn = here->turn;
    const struct catapults_stop *stop = RAISE(turn->scheduler, switch_out, &turn->policy);
    if (stop)
        core_contain(here, turn->scheduler, "switch_out", stop, NULL, NULL);
    TRACE(TRACE_SWITCHED_OUT, turn, 0);
    give_up(here, turn);
    end_turn(here);
}

void simulated_yield_to(struct simulated *of, struct simulated_thread *thread, uint32_t set_next, uint32_t switch_out) {
    struct processor *here = enter(of);
    if (here->polling)
        return;
    core_ask_for(here, &thread->record, here->turn);
    preempt(of, set_next);
    simulated_yield(of, switch_out);
}

void simulated_block(struct simulated *of, uint32_t reason, uint32_t event) {
    struct processor *here = enter(of);
    if (here->polling)
        return;
    struct dispatcher_thread *self = here->current;
    begin_to_wait(here, self, (enum dispatcher_reason)reason, DISPATCHER_FOREVER);
    if (here->turn != self) {
        block_aside(of, self);
        preempt(of, of->state.suspend_thread);
        if (!here->polling)
            borrow(of);
    } else if (taken_from(self)) {
        preempt(of, event);
        block_aside(of, self);
    } else {
        stop_running(here, self, (enum dispatcher_reason)reason);
        end_turn(here);
    }
}

void simulated_exit(struct simulated *of) {
    struct processor *here = enter(of);
    if (here->polling)
        return;
    struct dispatcher_thread *self = here->current;
    self->state = THREAD_ENDED;
    forget(here, self);
    strike(here, self);
    self->scheduler->runnable--;
    const struct catapults_stop *stop = RAISE(self->scheduler, exit, &self->policy);
    ended(here, self, NULL, stop);
    end_turn(here);
}

void simulated_lend(struct simulated *of, struct simulated_thread *owner, uint32_t reason) {
    struct processor *here = enter(of);
    if (here->polling)
        return;
    struct dispatcher_thread *self = here->current;
    simulated_redirect(simulated_of(self), owner);
    self->waits_for = &simulated_of(self)->owner;
    self->lends = true;
    begin_to_wait(here, self, (enum dispatcher_reason)reason, DISPATCHER_FOREVER);
    self->state = THREAD_LENDING;
    borrow(of);
}

void simulated_redirect(struct simulated_thread *thread, struct simulated_thread *owner) {
    thread->owner = owner ? (uintptr_t)&owner->record : 0;
}

void simulated_regain(struct simulated *of) {
    struct processor *here = enter(of);
    preempt_at_last(of);
    if (!here->polling && core_end_of(here, here->turn) != here->current)
        borrow(of);
}

void simulated_unblock(struct simulated *of, struct simulated_thread *thread) {
    if (thread->record.state == THREAD_BLOCKED)
        simulated_unblock_lender(of, thread);
}

void simulated_unblock_lender(struct simulated *of, struct simulated_thread *thread) {
    struct processor *here = enter(of);
    if (!core_is_blocked(&thread->record))
        return;
    happened(of);
    raise_unblock(here, &thread->record, core_running(here));
    simulated_note_taken(of, of->state.event_raised);
}

void simulated_preempt(struct simulated *of) {
    enter(of);
    preempt_at_last(of);
}

static void suspend(struct simulated *of, struct dispatcher_thread *thread) {
    struct processor *here = &of->here;
    if (here->polling || (thread != here->turn && thread != here->current)) {
        raise_suspend(here, thread, core_running(here));
    } else if (thread == here->turn) {
        raise_suspend(here, thread, NULL);
        if (thread->scheduler->parent)
            core_give_up(here, thread);
        end_turn(here);
    } else {
        raise_suspend(here, thread, here->turn);
        preempt(of, of->state.suspend_thread);
        if (!here->polling)
            borrow(of);
    }
}

void simulated_suspend(struct simulated *of, struct simulated_thread *thread) {
    enter(of);
    switch ((enum dispatcher_state)thread->record.state) {
    case THREAD_BLOCKED:
    case THREAD_LENDING:
    case THREAD_POSTPONED:
        thread->record.to_be_suspended = true;
        break;
    case THREAD_RUNNABLE:
    case THREAD_MARKED:
        suspend(of, &thread->record);
        break;
    case THREAD_SUSPENDED:
    case THREAD_ENDED:
    case SCHEDULER_RUNNABLE:
        break;
    }
}

void simulated_resume(struct simulated *of, struct simulated_thread *thread) {
    struct processor *here = enter(of);
    thread->record.to_be_suspended = false;
    if (thread->record.state != THREAD_SUSPENDED)
        return;
    happened(of);
    raise_resume(here, &thread->record);
    simulated_note_taken(of, of->state.resume_thread);
    preempt_at_last(of);
}

void simulated_release(struct simulated *of, struct simulated_thread *thread, uint32_t event) {
    core_tell_released(enter(of), &thread->record);
    simulated_note_taken(of, event);
}

void simulated_change(struct simulated *of, struct simulated_thread *thread, uint32_t event) {
    core_tell_changed(enter(of), &thread->record);
    simulated_note_taken(of, event);
}

void simulated_tick(struct simulated *of, uint32_t event) {
    struct processor *here = enter(of);
    if (here->polling)
        return;
    core_raise_tick(here, here->turn);
    preempt(of, event);
}

bool simulated_expire(struct simulated *of) {
    struct processor *here = enter(of);
    int64_t instant = of->state.now;
    bool left = false;
    for (struct scheduler *scheduler = &of->core.root; scheduler; scheduler = scheduler->next) {
        for (int i = 0; i < MOST_EXPIRED; i++) {
            const struct catapults_timer *first = scheduler->timeouts ? scheduler->timeouts->first : NULL;
            uint32_t timeout = first ? (uint32_t)first->timeout : 0;
            if (!core_expire_one(here, scheduler, instant))
                break;
            simulated_note_taken(of, SIMULATED_TIMEOUT | kept_of(scheduler)->number << 16 | timeout);
        }
        left |= scheduler->timeouts && scheduler->timeouts->first && scheduler->timeouts->first->instant <= instant;
    }
    preempt_at_last(of);
    return left;
}

void simulated_wake_idle(struct simulated *of) {
    core_wake_idle(enter(of), false);
    happened(of);
}

void simulated_decide(struct simulated *of) {
    struct processor *here = enter(of);
    const struct core *core = &of->core;
    preempt_at_last(of);
    while (here->polling && core->root.runnable > 0 && !of->declined) {
        core_stop_polling(here);
        struct dispatcher_thread *next = decide(here);
        here->due = 0;
        if (next == &here->idle) {
            end_turn(here);
            of->declined = core->root.runnable > 0;
        } else {
            simulated_note_dispatch(of);
            go_on(of, next, true);
            preempt_at_last(of);
        }
    }
    if (here->polling)
        simulated_note_idle(of);
}
