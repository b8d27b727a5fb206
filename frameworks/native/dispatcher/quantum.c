/*
 * When a processor is to be interrupted: while a thread runs and something waits that the thread cannot know of.
 *
 *   - Another thread is ready, and the policy limits turns: at the first of its timers.
 *   - A thread sleeps: when the first is to wake. Whether that costs the thread that runs its turn is for the policy.
 *   - Another thread is ready, and the policy has a handler of `tick`; or a thread waits for a descriptor: within a
 *     tick, as nobody knows when it can go on.
 *
 * The timer of one processor stands for all: it raises what is due on the others, too, and has them interrupted.
 *
 * In no other case. The timer is left as it is while threads come and go, so that a program whose threads give up the
 * processor by themselves pays for one interruption per tick and per sleep, whatever number of turns they take.
 */
#include "dispatcher/state.h"

static int64_t first_turn_to_end(const struct processor *here, bool *contended);

static bool others_wait(const struct processor *here, const struct scheduler *scheduler) {
    if (LIKELY(!dispatcher.several))
        return scheduler->runnable > 1;
    const struct processor *asks = scheduler->node ? scheduler->node->processor : here;
    return dispatcher_ready_at(scheduler) > 0 || asks->turns_first || here->turns_first;
}

void dispatcher_arm(struct processor *here) {
    const struct dispatcher_host *host = dispatcher.host;
    if (!host->arm)
        return;
    bool contended = false;
    int64_t end = here->timed ? first_turn_to_end(here, &contended) : DISPATCHER_FOREVER;
    int64_t instant = here->armed;
    if (!instant) {
        if (!contended && !dispatcher.timers && !(dispatcher.driver && dispatcher.driver->busy()))
            return;
        instant = host->now() + host->tick;
    }
    if (end < instant)
        instant = end;
    if (dispatcher.timers && dispatcher.timers->instant < instant)
        instant = dispatcher.timers->instant;
    if (instant == here->armed)
        return;
    here->armed = instant;
    host->arm(instant);
}

/* The first timer of a policy under which something else is ready; `contended`: there is such a policy. */
static int64_t first_turn_to_end(const struct processor *here, bool *contended) {
    int64_t instant = DISPATCHER_FOREVER;
    for (const struct scheduler *scheduler = &dispatcher.root; scheduler; scheduler = scheduler->next) {
        if (!scheduler->timed || !others_wait(here, scheduler))
            continue;
        *contended = true;
        const struct catapults_timers *timeouts = scheduler->timeouts;
        if (timeouts && timeouts->first && timeouts->first->instant < instant)
            instant = timeouts->first->instant;
    }
    return instant;
}
