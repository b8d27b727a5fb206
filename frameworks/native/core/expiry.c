/*
 * Timers of policies expire: each raises an event of its thread, wherever that is.
 */
#include "core/clock.h"
#include "core/containment.h"
#include "core/expiry.h"
#include "core/frames.h"
#include "core/in_force.h"
#include "core/nodes.h"
#include "core/tree.h"

bool core_expire_one(struct processor *here, struct scheduler *scheduler, int64_t now) {
    struct catapults_timer *first = scheduler->timeouts ? scheduler->timeouts->first : NULL;
    if (!first || first->instant > now)
        return false;
    const struct dispatcher_thread *runs = core_running(here);
    struct dispatcher_thread *thread = dispatcher_thread_of(first->thread);
    const struct catapults_timeout *timeout = &scheduler->policy->timeouts[first->timeout];
    uint16_t frame = core_see(here, thread);
    /* What is RUNNING in that frame may be so on another processor. */
    tell(here, scheduler, !here->polling || scheduler->node || frame != NOBODY);
    const struct catapults_stop *stop = core_raise_timeout(here, scheduler, timeout, first->thread);
    if (UNLIKELY(stop))
        core_contain(here, scheduler, timeout->name, stop, NULL, runs);
    if (UNLIKELY(scheduler->idle))
        core_gained(here, scheduler, runs);
    if (UNLIKELY(frame != NOBODY))
        core_seen(here, thread, frame);
    core_noticed(here, scheduler);
    return true;
}

void core_expire_all(struct processor *here, int64_t now) {
    for (struct scheduler *scheduler = &here->core->root; scheduler; scheduler = scheduler->next)
        for (int i = 0; i < MOST_EXPIRED && core_expire_one(here, scheduler, now); i++)
            ;
}
