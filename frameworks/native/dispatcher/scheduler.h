/*
 * A scheduler: one instance of a policy, with the threads that are under it. To its parent it is a thread (CPU
 * inheritance scheduling, 1996, §3).
 */
#ifndef CATAPULTS_SCHEDULER_H
#define CATAPULTS_SCHEDULER_H

#include "catapults/timers.h"
#include "dispatcher/builtin.h"
#include "dispatcher/record.h"

struct scheduler {
    const struct native_handlers *handlers;
    void *instance;
    bool inlined;             /* its policy is the one that is compiled in */
    bool clocked;             /* its policy looks at the clock: see clock.c */
    int64_t runnable;         /* what is under it and READY or RUNNING */
    struct scheduler *parent; /* NULL: the root */

    struct catapults_timers *timeouts;       /* armed by the policy; NULL: it has no timers */
    catapults_time *now;                     /* where the policy reads what time it is; NULL: it does not */
    const struct catapults_import *consumed; /* NULL: the policy does not ask how long threads run */
    int64_t told;                            /* when the clock was read last for the policy */

    const struct catapults_policy *policy;
    _Alignas(16) char builtin[DISPATCHER_BUILTIN_INSTANCE]; /* its instance after the policy had to go */
    struct dispatcher_thread record; /* what it is to its parent; last: the attributes of the parent's policy follow */
};

#endif
