/*
 * How events are raised: through the table of the policy in force. `here`, the processor that acts, is what the caller
 * calls so.
 */
#ifndef CATAPULTS_RAISE_H
#define CATAPULTS_RAISE_H

#include "core/state.h"

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

#endif
