/*
 * How events are raised by the shortcut when no policy is compiled in: through the table of the root's policy.
 */
#ifndef CATAPULTS_RAISE_LOADED_H
#define CATAPULTS_RAISE_LOADED_H

#include "core/raise.h"
#include "dispatcher/instance.h"

#define CAN_TAKE_SHORTCUT(root) (!(root)->clocked)
#define RAISE_BY_SHORTCUT(event, ...) dispatcher.root.handlers.event(dispatcher.root.self, __VA_ARGS__)
#define SCHEDULE_BY_SHORTCUT(stop) dispatcher.root.handlers.schedule(dispatcher.root.self, stop)
#define POLICY_BY_SHORTCUT dispatcher.root.policy
#define ADOPT_BY_SHORTCUT(t) dispatcher.root.policy->adopt(dispatcher.root.instance, t)
#define ASKED_FOR_CONSUMED_BY_SHORTCUT (dispatcher.root.consumed != NULL)
#define BLOCKS_ALIKE false

/* The next thread when the RUNNING one yields, or NULL, as `schedule` says. `stopped`: switch_out itself stopped, and
 * why is in here->stop. Only then can that be set although the RUNNING thread goes on. */
static inline __attribute__((always_inline)) struct catapults_thread *yield_to_next_by_shortcut(struct processor *here,
                                                                                                bool *stopped) {
    struct catapults_thread *t = dispatcher.root.yield(dispatcher.root.self, &here->turn->policy, &here->stop);
    *stopped = UNLIKELY(t == &here->turn->policy) && here->stop;
    return t;
}

#endif
