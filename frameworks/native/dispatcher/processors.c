/*
 * The processors among each other: the one lock, which is held in the dispatcher; how processors with nothing to do
 * sleep and are woken; and how processors come and go.
 *
 * A processor with nothing to run goes on in a context of its own, because another may run on the stack of the thread
 * that it left. There it sleeps in the driver, if no other does, or until it is woken.
 */
#include <errno.h>

#include "core/blocked_donors.h"
#include "core/check.h"
#include "core/containment.h"
#include "core/decide.h"
#include "core/frames.h"
#include "core/nodes.h"
#include "core/outside.h"
#include "core/postponed.h"
#include "core/quantum.h"
#include "core/ready.h"
#include "core/running_frames.h"
#include "core/scheduler_records.h"
#include "core/tree.h"
#include "dispatcher/instance.h"

static void wake_any(void);
static void rest(struct processor *here);
static void hand_over(void);
static void give_up_hope(void);
static void make_another(void);
static void make_known(uint32_t count);
static struct processor *some_sleeper(void);
static bool wants_another(void);
static bool can_go_on(struct processor *here);

/* ---- The lock ---------------------------------------------------------------------------------------------------- */

static void resize(void) {
    dispatcher.resized = false;
    dispatcher.host->resize();
}

void dispatcher_entered(void) {
    struct processor *here = processor_here();
    if (UNLIKELY(here->current == &here->idle))
        return;                 /* it was polling, and decides after that */
    if (UNLIKELY(here->over)) { /* as if the caller had been interrupted before the call */
        dispatcher_run(here, here->current, core_decide(here));
    } else if (UNLIKELY(here->anew)) {
        here->anew = false;
        here->armed = 0; /* as in core_decide */
        core_arm(here);
        dispatcher_released();
    }
    if (UNLIKELY(dispatcher.resized))
        resize();
}

/* Chains may have changed, or which turns wait for processors. May run other threads. */
static __attribute__((noinline)) void attend_to_changes(void) {
    if (dispatcher.turns_changed)
        core_look_at_turns(processor_here());
    for (;;) {
        struct processor *here = processor_here();
        bool chains = dispatcher.chains_changed && core_must_settle(here, 0);
        bool room = dispatcher.fewer_wait || dispatcher.none_waits;
        if ((!chains && !room) || here->attends || here->over || here->current == &here->idle)
            return;
        if (UNLIKELY(room))
            core_let_in(here);
        if (chains) {
            core_step_aside(here, NULL);
            core_settle(here, core_running(here));
            core_step_back(here);
        }
        dispatcher_unblocked();
    }
}

static void enter(void) {
    __atomic_store_n(&processor_here()->inside, true, __ATOMIC_RELAXED);
    dispatcher.host->lock();
    dispatcher_entered();
}

/* If there is something for another processor to do, wakes an idle one. Those with nodes are woken at once for what
 * comes there (core_notice). */
static void leave(void) {
    if (UNLIKELY(dispatcher.changes))
        attend_to_changes();
    struct processor *here = processor_here();
    if (UNLIKELY(here->due))
        dispatcher_do_due(here);
    core_check(here);
    struct processor *sleeper = dispatcher.asleep && wants_another() ? some_sleeper() : NULL;
    if (sleeper)
        core_begin_to_wake(sleeper);
    bool polls = sleeper && sleeper == dispatcher.poller;
    dispatcher.host->unlock();
    if (polls)
        dispatcher.driver->kick();
    else if (sleeper)
        dispatcher.host->wake(sleeper);
    __atomic_store_n(&processor_here()->inside, false, __ATOMIC_RELAXED);
}

/* One that sleeps and could take a turn; not the one that polls, if there is another. */
static struct processor *some_sleeper(void) {
    struct processor *sleeper = NULL;
    for (uint32_t i = 0; i < dispatcher.processors_count; i++) {
        struct processor *one = dispatcher.processors[i];
        const struct node *node = one->scheduler->node;
        bool busy = UNLIKELY(node != NULL) && !core_instance_for(one) && dispatcher.poller;
        if (one->asleep && !one->parked && !busy && (!sleeper || one != dispatcher.poller))
            sleeper = one;
    }
    return sleeper;
}

/* For those that share the root. */
static bool has_work(int64_t for_others) {
    return core_ready(processor_here()) > for_others && !dispatcher.root.declined;
}

static bool wants_another(void) {
    bool something = UNLIKELY(dispatcher.root.node != NULL)
                         ? dispatcher.waking == 0 && core_is_something_to_steal(processor_here())
                         : has_work(dispatcher.waking);
    return something || (!dispatcher.poller && dispatcher.waking == 0 && core_is_under_way(&dispatcher));
}

TOOLS_UNSEEN void dispatcher_alert(struct processor *processor) {
    if (processor == dispatcher.poller)
        dispatcher.driver->kick();
    else
        dispatcher.host->wake(processor);
}

/* ---- Idle -------------------------------------------------------------------------------------------------------- */

__attribute__((noreturn)) static void idle(void) {
    for (;;) {
        if (UNLIKELY(dispatcher.resized))
            resize();
        if (UNLIKELY(dispatcher.wants_spare))
            make_another();
        struct processor *here = processor_here();
        struct dispatcher_thread *next = core_decide(here);
        if (here->due)
            next = dispatcher_attend(here, next);
        if (next != &here->idle)
            dispatcher_run(here, &here->idle, next);
        else if (!here->handed) /* else it has a turn, for which another kernel thread is made */
            rest(here);
    }
}

/* Nothing is to be run: sleeps until that may have changed. */
static void rest(struct processor *here) {
    here->polling = true;
    if (dispatcher.driver)
        dispatcher.driver->poll(-1);
    if (UNLIKELY(dispatcher.fewer_wait || dispatcher.none_waits))
        core_let_in(here);
    bool all_others = dispatcher.asleep + dispatcher.parked_asleep + 1 == dispatcher.processors_count;
    if (here->parked) {
        if (!here->handed_on || dispatcher.asleep) /* else the one that has its turn now does that */
            hand_over();
        here->handed_on = NULL;
        core_fall_asleep(here);
        dispatcher_do_due(here);
        dispatcher.host->sleep(here);
        core_wake_up(here);
    } else if (can_go_on(here)) {
        /* There is something to be run now. */
    } else if (!dispatcher.poller && core_is_under_way(&dispatcher)) {
        core_fall_asleep(here);
        dispatcher.poller = here;
        dispatcher_poll(here);
        dispatcher.poller = NULL;
        core_wake_up(here);
        core_wake_idle(here, false);
    } else if (all_others && !dispatcher.poller && dispatcher.running == 0) {
        give_up_hope();
    } else {
        core_fall_asleep(here);
        dispatcher_do_due(here);
        dispatcher.host->sleep(here);
        core_wake_up(here);
    }
    core_stop_polling(here);
}

/* Leaves what a parked processor would do to the others: to an idle one, or to those that run, each of which may not
 * know that something waits. */
static void hand_over(void) {
    if (!wants_another())
        return;
    if (dispatcher.asleep) {
        wake_any();
        return;
    }
    for (uint32_t i = 0; i < dispatcher.active && dispatcher.host->arm; i++) {
        struct processor *one = dispatcher.processors[i];
        if (one->current == &one->idle || (one->armed && !core_nobody_looks(one)))
            continue;
        one->late = true; /* it may decide before it is interrupted */
        dispatcher.host->interrupt(one);
    }
}

static bool can_go_on(struct processor *here) {
    if (LIKELY(!dispatcher.root.node))
        return has_work(0);
    const struct scheduler *scheduler = core_instance_for(here);
    return scheduler && (scheduler->runnable > 0 ? !scheduler->declined : core_is_something_to_steal(here));
}

static void wake_any(void) {
    struct processor *sleeper = some_sleeper();
    if (sleeper)
        core_wake(processor_here(), sleeper);
}

/* Nothing runs, and nothing can ever happen. */
static void give_up_hope(void) {
    if (core_ready(processor_here()) > 0)
        core_contain(processor_here(), &dispatcher.root, "schedule", NULL,
                     "it dispatched nothing although a thread is ready", NULL);
    else if (core_wake_idle(processor_here(), true))
        return;
    else if (dispatcher.oldest)
        dispatcher.host->deadlocked();
    else {
        dispatcher_leave();
        dispatcher.host->finished();
    }
}

/* ---- Starting ---------------------------------------------------------------------------------------------------- */

static void idle_first(void *argument) {
    (void)argument;
    tools_begin();
    idle();
}

void dispatcher_several_prepare(struct processor *first) {
    dispatcher.several = true;
    core_blocked_donors_start(&dispatcher);
    dispatcher.processors[dispatcher.processors_count++] = first;
    dispatcher.active = dispatcher.known = 1;
    core_give_out_frames(processor_here());
}

void dispatcher_several(struct stack *stack, void *top) {
    struct processor *here = processor_here();
    context_make(&here->idle.context, stack, top, idle_first, NULL);
    here->idle.excepted = dispatcher.host->exchange != NULL;
    dispatcher_set_guard(enter, leave, true);
}

/* The number of processors has changed, and so how many threads schedulers are to their parents. The caller may have
 * lost its turn by that, or with its processor. */
static void fit(struct processor *here) {
    bool lost = here->over;
    core_adjust_all(here);
    if (here->current == &here->idle)
        return; /* it decides next */
    struct dispatcher_thread *turn = dispatcher.running_frames[here->frame].turn;
    if (lost || (turn && core_preempted(here, turn)))
        dispatcher_run(here, here->current, core_decide(here));
}

void dispatcher_add_processor(struct processor *processor, void *host, void *node) {
    bool timed = processor_here()->timed;
    *processor = (struct processor){.core = &dispatcher,
                                    .patience_full = 1,
                                    .number = dispatcher.processors_count,
                                    .timed = timed,
                                    .current = &processor->idle,
                                    .scheduler = &dispatcher.root,
                                    .host = host};
    processor->idle.excepted = dispatcher.host->exchange != NULL;
    dispatcher.processors[dispatcher.processors_count++] = processor;
    dispatcher.none_waits |= dispatcher.postponed != NULL;
    if (dispatcher.root.node)
        core_node_arrives(processor_here(), processor, node);
    else
        core_take_frame(processor_here(), processor);
    dispatcher.active++;
    make_known(dispatcher.processors_count);
    fit(processor_here());
}

static void make_another(void) {
    dispatcher.wants_spare = false;
    if (!dispatcher.host->another())
        dispatcher.no_more_spares = true;
}

void dispatcher_add_spare(struct processor *processor, void *host) {
    bool timed = processor_here()->timed;
    *processor = (struct processor){.core = &dispatcher,
                                    .patience_full = 1,
                                    .number = dispatcher.processors_count,
                                    .timed = timed,
                                    .parked = true,
                                    .current = &processor->idle,
                                    .scheduler = &dispatcher.root,
                                    .serves = &dispatcher.root,
                                    .host = host};
    dispatcher.processors[dispatcher.processors_count++] = processor;
    core_take_frame(processor_here(), processor);
}

uint32_t dispatcher_active(void) { return dispatcher.active; }

uint32_t dispatcher_known(void) { return dispatcher.known; }

static void make_known(uint32_t count) {
    dispatcher.no_more_spares = false;
    if (count > dispatcher.processors_count)
        count = dispatcher.processors_count;
    if (count > dispatcher.known)
        dispatcher.known = count;
}

void dispatcher_process(struct processor *processor, int *error_number, struct dispatcher_exceptions *exceptions) {
    dispatcher.host->lock(); /* by then the one that has made it is done */
    here()->processor = processor;
    __atomic_store_n(&processor->inside, true, __ATOMIC_RELAXED);
    processor->error_number = error_number;
    processor->exceptions = exceptions;
    context_adopt(&processor->idle.context);
    idle();
}

void dispatcher_unblocked_for_later(void) {
    struct processor *here = processor_here();
    /* It is about to sleep, or was interrupted in that. Of those that share the root, dispatcher_leave wakes one. */
    const struct scheduler *instance = UNLIKELY(here->asleep) ? core_instance_for(here) : NULL;
    if (instance && core_ready_at(here, instance) > 0)
        core_wake(here, here);
    if (!here->attends && !here->over)
        core_come_back(here);
}

void dispatcher_carry_on(struct processor *processor, int *error_number, struct dispatcher_exceptions *exceptions) {
    here()->processor = processor;
    processor->error_number = error_number;
    processor->exceptions = exceptions;
}

TOOLS_UNSEEN uint32_t dispatcher_processors(void) { return dispatcher.processors_count; }

TOOLS_UNSEEN const struct processor *dispatcher_processor_at(uint32_t number) { return dispatcher.processors[number]; }

/* Threads are READY that counted on a processor which is given up now: the event that made them so saw it idle, and so
 * took the processor from nobody. Some turn ends, so that the policy decides between them. */
static void give_way(struct processor *here) {
    if (dispatcher.root.node || core_ready(here) <= dispatcher.asleep)
        return;
    if (here->current != &here->idle) {
        dispatcher_yield_inside();
        return;
    }
    core_end_another_turn(here);
}

void dispatcher_set_processors(uint32_t count) {
    bool fewer = count < dispatcher.active;
    make_known(count);
    for (uint32_t i = 0; i < dispatcher.processors_count; i++) {
        struct processor *one = dispatcher.processors[i];
        if (one->parked == (i >= count))
            continue;
        *core_count_of_asleep(one) -= one->asleep;
        one->parked = i >= count;
        *core_count_of_asleep(one) += one->asleep;
        if (one->asleep)
            core_wake(processor_here(), one); /* it looks at what it is to do now */
        if (dispatcher.root.node && one->parked)
            core_node_departs(processor_here(), one);
        else if (dispatcher.root.node)
            core_node_arrives(processor_here(), one, one->scheduler);
    }
    core_place_homeless(processor_here());
    dispatcher.active = count < dispatcher.processors_count ? count : dispatcher.processors_count;
    fit(processor_here());
    if (fewer)
        give_way(processor_here());
}

void dispatcher_look_for_processors(int64_t now) {
    if (dispatcher.host->resized && dispatcher.host->resized(now))
        dispatcher.resized = true;
}

static uint64_t bit_of(const struct processor *processor) {
    return processor->number < 64 ? (uint64_t)1 << processor->number : 0;
}

bool dispatcher_can_bind(uint64_t processors) {
    uint64_t all = 1;
    for (uint32_t i = 0; i < dispatcher.known; i++)
        all |= bit_of(dispatcher.processors[i]);
    return processors == 0 || (processors & all);
}

int dispatcher_bind(struct dispatcher_thread *thread, uint64_t processors) {
    if (!dispatcher_can_bind(processors))
        return EINVAL;
    thread->bound = processors;
    dispatcher.picky = true;
    if (core_is_runnable(thread))
        core_list_picky(processor_here(), thread);
    dispatcher.none_waits |= dispatcher.postponed != NULL; /* it may run on another one now */
    if (!dispatcher.root.node && !dispatcher.root.next && core_is_runnable(thread) && taken_from(thread))
        core_precede(processor_here(), thread);
    return 0;
}

TOOLS_UNSEEN void *dispatcher_processor_host(const struct processor *processor) { return processor->host; }

void *dispatcher_node_of(const struct processor *processor) {
    return processor->scheduler == &dispatcher.root ? NULL : processor->scheduler;
}
