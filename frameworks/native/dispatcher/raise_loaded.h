/*
 * How events are raised when no policy is compiled in, and where it does not matter: through the table of the policy in
 * force.
 */
#ifndef CATAPULTS_RAISE_H
#define CATAPULTS_RAISE_H

#include "dispatcher/state.h"

/* Its policy has a handler for the event. */
#define HAS(scheduler, event) ((scheduler)->handlers.event != NULL)

/* Calls it: RAISE(scheduler, newthread, t). */
#define RAISE(scheduler, event, ...)                                                                                   \
    (tell(scheduler, true), (scheduler)->handlers.event((scheduler)->self, __VA_ARGS__))
#define SCHEDULE(scheduler, stop) (tell(scheduler, false), (scheduler)->handlers.schedule((scheduler)->self, stop))
#define ADOPT(scheduler, t) (scheduler)->policy->adopt((scheduler)->instance, t)
#define RAISE_INIT(scheduler) (tell(scheduler, true), (scheduler)->handlers.init((scheduler)->self))
#define QUERY(scheduler, query) (tell(scheduler, true), (scheduler)->handlers.query((scheduler)->self))

#ifndef CATAPULTS_COMPILED_IN
/* The same while `shortcut` (see shortcut.h). */
#define CAN_TAKE_SHORTCUT(root) (!(root)->clocked)
#define RAISE_BY_SHORTCUT(event, ...) dispatcher.root.handlers.event(dispatcher.root.self, __VA_ARGS__)
#define SCHEDULE_BY_SHORTCUT(stop) dispatcher.root.handlers.schedule(dispatcher.root.self, stop)
#define POLICY_BY_SHORTCUT dispatcher.root.policy
#define ADOPT_BY_SHORTCUT(t) dispatcher.root.policy->adopt(dispatcher.root.instance, t)
#define ASKED_FOR_CONSUMED_BY_SHORTCUT (dispatcher.root.consumed != NULL)
#define BLOCKS_ALIKE false

/* Who is next when what is RUNNING yields, or NULL, as `schedule` says. `stopped`: not even switch_out has been dealt
 * with, and why is in here->stop; only then can that be set although what is RUNNING goes on. */
static inline __attribute__((always_inline)) struct catapults_thread *yield_to_next_by_shortcut(struct processor *here,
                                                                                                bool *stopped) {
    struct catapults_thread *t = dispatcher.root.yield(dispatcher.root.self, &here->turn->policy, &here->stop);
    *stopped = UNLIKELY(t == &here->turn->policy) && here->stop;
    return t;
}
#endif

#endif
