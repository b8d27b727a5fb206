/*
 * When a processor is to be interrupted: while a thread runs, and something waits that the thread cannot know of.
 *
 *   - Another thread is READY, and the policy limits turns: at the first of the policy's timers.
 *   - Another thread is READY, and the policy handles `tick`; or a thread waits for a descriptor: within a tick. The
 *     policy decides what a tick means to the running thread.
 *   - A thread sleeps, or waits until an instant: when the first of them is to wake.
 *
 * In no other case. The timer of one processor stands for all: what is due on other processors is done as well, and
 * they are interrupted. The timer is not touched when threads come and go. So a program whose threads give up the
 * processor by themselves pays for one interruption per tick and per sleep, however many turns they take.
 */
#include "core/containment.h"
#include "core/outside.h"
#include "core/quantum.h"
#include "core/raise.h"
#include "core/ready.h"
#include "core/tree.h"

/* Nanoseconds by which sleepers wake late, as the kernel has it for its own (timerslack). Else many that sleep for
 * moments would have the processor to themselves. */
enum { SLACK = 50000 };

static int64_t first_turn_to_end(struct processor *here, bool *contended);
static int64_t first_to_wake(struct processor *here, int64_t instant);

static bool others_wait(struct processor *here, const struct scheduler *scheduler) {
    if (LIKELY(!here->core->several))
        return scheduler->runnable > 1;
    const struct processor *asks = scheduler->node ? scheduler->node->processor : here;
    return core_ready_at(here, scheduler) > 0 || asks->turns_first || here->turns_first;
}

void core_arm(struct processor *here) {
    struct core *core = here->core;
    const struct dispatcher_host *host = core->host;
    if (!host->arm)
        return;
    bool contended = false;
    int64_t end = here->timed ? first_turn_to_end(here, &contended) : DISPATCHER_FOREVER;
    int64_t instant = here->armed;
    if (!instant) {
        if (!contended && !core->timers && !(core->driver && core->driver->busy()))
            return;
        int64_t now = host->now();
        if (here->tick <= now) /* else it was interrupted for something else */
            here->tick = now + host->tick;
        instant = here->tick;
    }
    if (end < instant)
        instant = end;
    if (core->timers && core->timers->instant < instant)
        instant = first_to_wake(here, instant);
    if (instant == here->armed)
        return;
    here->armed = instant;
    here->due |= ARM;
}

/* The first timer of a policy under which something else is ready; `contended`: there is such a policy. */
static int64_t first_turn_to_end(struct processor *here, bool *contended) {
    int64_t instant = DISPATCHER_FOREVER;
    for (const struct scheduler *scheduler = &here->core->root; scheduler; scheduler = scheduler->next) {
        if (!scheduler->timed || !others_wait(here, scheduler))
            continue;
        *contended = true;
        const struct catapults_timers *timeouts = scheduler->timeouts;
        if (timeouts && timeouts->first && timeouts->first->instant < instant)
            instant = timeouts->first->instant;
    }
    return instant;
}

bool core_is_seen_to(const struct processor *here, int64_t instant) {
    struct core *core = here->core;
    for (uint32_t i = 0; i < core->processors_count; i++) {
        const struct processor *one = core->processors[i];
        if (one != here && !one->parked && one->armed && one->armed <= instant && one->current != &one->idle)
            return true;
    }
    return false;
}

/* Instead of `instant`, if a thread is to wake before it, and no processor looks after that. */
static int64_t first_to_wake(struct processor *here, int64_t instant) {
    struct core *core = here->core;
    if (core->poller) {
        core_tell_poller(here);
        return instant;
    }
    int64_t wakes = core->timers->instant, soonest = core->host->now() + SLACK;
    if (wakes < soonest)
        wakes = soonest;
    return wakes < instant && !core_is_seen_to(here, wakes) ? wakes : instant;
}

void core_raise_tick(struct processor *here, struct dispatcher_thread *turn) {
    struct dispatcher_thread *runs = turn;
    for (struct scheduler *scheduler = turn->scheduler; scheduler; scheduler = scheduler->parent) {
        bool others = UNLIKELY(here->core->several) ? core_ready_at(here, scheduler) > 0 : scheduler->runnable > 1;
        if (HAS(scheduler, tick) && others && !taken_from(runs) && core_is_runnable(runs)) {
            const struct catapults_stop *stop = RAISE(scheduler, tick, &runs->policy);
            if (UNLIKELY(stop))
                core_contain(here, scheduler, "tick", stop, NULL, turn);
        }
        runs = core_above(here, runs);
    }
}
