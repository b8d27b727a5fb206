/*
 * The world outside: timers and the driver. It is attended to whenever nothing is ready, and otherwise every so many
 * decisions: as many as fit between two glances SHORT to LONG apart. So a thousand quick turns do not each pay for a
 * look at the clock, and a few long ones do not keep finished operations waiting.
 */
#include "core/containment.h"
#include "core/expiry.h"
#include "core/outside.h"
#include "core/quantum.h"
#include "core/starvation.h"
#include "core/told.h"
#include "core/tree.h"
#include "dispatcher/instance.h"
#include "dispatcher/trace.h"

enum {
    SHORT = 20000, /* nanoseconds */
    LONG = 60000,
    STEAL_AGAIN = 1000000,
    TIDY_AGAIN = 1000000,
    MOST = 1024 /* decisions without a look, whatever the clock last said */
};

static void glance(struct processor *here, volatile int32_t *patience);
static bool wait(struct processor *here);
static void wait_until_runnable(struct processor *here);
static void look(int64_t now);
static void attend_to_signals(void);
static void run_out(int64_t now);

void dispatcher_look_outside(struct processor *here) {
    glance(here, UNLIKELY(dispatcher.several) ? &here->decisions : &here->patience);
}

void dispatcher_wait_outside(struct processor *here) {
    if (dispatcher.root.runnable == 0)
        wait_until_runnable(here);
    else if (!wait(here))
        core_contain(here, &dispatcher.root, "schedule", NULL, "it dispatched nothing although a thread is ready",
                     NULL);
}

static void glance(struct processor *here, volatile int32_t *patience) {
    int64_t now = dispatcher.host->now(), passed = now - here->attended;
    if (passed < SHORT && here->patience_full < MOST)
        here->patience_full *= 2;
    else if (passed > LONG)
        here->patience_full = passed > 4 * LONG || here->patience_full == 1 ? 1 : here->patience_full / 2;
    int32_t made = here->patience_full - here->cut - (*patience > 0 ? *patience : 0);
    dispatcher.decided += made > 0 ? (uint64_t)made : 0;
    here->cut = 0;
    if (UNLIKELY(dispatcher.host->starvation_limit != 0)) {
        dispatcher.decisions += (uint64_t)here->patience_full;
        core_look_for_starving(here, now);
    }
    dispatcher_find_shortcut();
    if (dispatcher.host->tidy && now - dispatcher.tidied > TIDY_AGAIN) {
        dispatcher.tidied = now;
        dispatcher.host->tidy();
    }
    *patience = here->patience_full;
    here->attended = now;
    here->polling = true;
    look(now);
    core_stop_polling(here);
    if (UNLIKELY(here->late)) { /* no more: it need not come back for this */
        here->late = false;
        here->armed = 0;
        core_arm(here);
    }
}

void dispatcher_look(int64_t now) {
    struct processor *here = processor_here();
    here->attended = now;
    here->looking = true;
    look(now);
    here->looking = false;
}

static void look(int64_t now) {
    if (UNLIKELY(dispatcher.nothing_to_steal) && now - dispatcher.found_nothing_at > STEAL_AGAIN)
        dispatcher.nothing_to_steal = false;
    if (UNLIKELY(dispatcher.several))
        dispatcher_look_for_processors(now);
    run_out(now);
    core_expire_all(processor_here(), now);
    if (dispatcher.driver && dispatcher.driver->busy())
        dispatcher.driver->poll(dispatcher.poller ? -1 : 0);
    attend_to_signals();
}

static void attend_to_signals(void) {
    if (LIKELY(!dispatcher.signalled))
        return;
    (void)__atomic_exchange_n(&dispatcher.signalled, false, __ATOMIC_SEQ_CST); /* before what has come is looked at */
    dispatcher.host->signalled();
}

/* Waits for a timer or the driver. False: there is nothing to wait for. */
static bool wait(struct processor *here) {
    /* The policy's own timers make no thread RUNNABLE. */
    if (!core_is_under_way(&dispatcher))
        return false;
    dispatcher_poll(here);
    core_arm(here); /* what runs now runs while others still wait */
    return true;
}

static void wait_until_runnable(struct processor *here) {
    while (dispatcher.root.runnable == 0) {
        bool waited = wait(here);
        if (core_wake_idle(here, !waited) || waited)
            continue;
        if (dispatcher.oldest)
            dispatcher.host->deadlocked();
        dispatcher.host->finished();
    }
}

void dispatcher_poll(struct processor *here) {
    if (UNLIKELY(dispatcher_trace != NULL))
        dispatcher_record(TRACE_IDLE, NULL, 0);
    dispatcher_do_due(here);
    here->polling = true;
    int64_t instant = core_first_instant(&dispatcher);
    dispatcher.polls_until = instant;
    bool busy = dispatcher.signalled || (dispatcher.host->tidy && dispatcher.host->tidy());
    dispatcher.driver->poll(busy ? 0 : instant); /* what comes now interrupts it, or comes again */
    here->attended = dispatcher.host->now();
    if (UNLIKELY(dispatcher.several))
        dispatcher_look_for_processors(here->attended);
    run_out(here->attended);
    core_expire_all(here, here->attended);
    attend_to_signals();
    core_stop_polling(here);
}

static void run_out(int64_t now) {
    while (dispatcher.timers && dispatcher.timers->instant <= now) {
        struct dispatcher_thread *thread =
            (struct dispatcher_thread *)((char *)dispatcher.timers - offsetof(struct dispatcher_thread, timer));
        thread->timed_out = true;
        if (UNLIKELY(thread->begins_job))
            core_tell_released(processor_here(), thread);
        dispatcher_unblock(thread);
    }
}
