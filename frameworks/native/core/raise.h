/*
 * How events are raised: through the table of the policy in force. The caller's `here` must be the processor that acts.
 */
#ifndef CATAPULTS_CORE_RAISE_H
#define CATAPULTS_CORE_RAISE_H

#include "core/clock.h"

/* Its policy has a handler for the event. */
#define HAS(scheduler, event) ((scheduler)->handlers.event != NULL)

/* Calls it: RAISE(scheduler, newthread, t). */
#define RAISE(scheduler, event, ...)                                                                                   \
    (tell(here, scheduler, true), (scheduler)->handlers.event((scheduler)->self, __VA_ARGS__))
#define SCHEDULE(scheduler, stop)                                                                                      \
    (tell(here, scheduler, false), (scheduler)->handlers.schedule((scheduler)->self, stop))
#define ADOPT(scheduler, t) (scheduler)->policy->adopt((scheduler)->instance, t)
#define RAISE_INIT(scheduler) (tell(here, scheduler, true), (scheduler)->handlers.init((scheduler)->self))
#define QUERY(scheduler, query) (tell(here, scheduler, true), (scheduler)->handlers.query((scheduler)->self))

/* ---- Events that files beside the one for all of them raise (events.h) ------------------------------------------- */

/* The RUNNING thread cannot go on: raises the `block.*` event of its `reason`. */
void core_raise_block(struct processor *here, struct dispatcher_thread *thread);

/* A thread that is LENDING, and was BLOCKED to its policy, is READY: raises event_raised. `runs`: as for core_contain.
 */
void core_raise_event(struct processor *here, struct dispatcher_thread *thread, const struct dispatcher_thread *runs);

/* A thread that is READY to its policy cannot run: raises suspend_thread. */
void core_set_aside(struct processor *here, struct dispatcher_thread *thread);

#endif
