/*
 * What the files of the dispatcher share: its state, and what is too rare to stand in the way of dispatcher.c.
 */
#ifndef CATAPULTS_STATE_H
#define CATAPULTS_STATE_H

#include "dispatcher/builtin.h"
#include "dispatcher/dispatcher.h"
#include "dispatcher/record.h"

#include "catapults/timers.h"

#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)

struct dispatcher {
    struct dispatcher_thread *current; /* that runs, or ran last while none does */
    const struct native_handlers *handlers;
    void *instance;
    bool inlined;                      /* the policy in force is the one that is compiled in */
    bool polling;                      /* the driver is at work, and no thread is RUNNING */
    bool clocked;                      /* the policy in force looks at the clock: see clock.c */
    int32_t patience;                  /* decisions until the world outside is attended to */
    int64_t runnable;                  /* threads that are READY or RUNNING */
    const struct catapults_stop *stop; /* NULL, except while a `schedule` that stopped is dealt with */
    int *error_number;                 /* of the host */
    struct dispatcher_exceptions *exceptions;

    struct catapults_timers *timeouts;       /* armed by the policy; NULL: it has no timers */
    catapults_time *now;                     /* where the policy reads what time it is; NULL: it does not */
    const struct catapults_import *consumed; /* NULL: the policy does not ask how long threads run */
    int64_t told;                            /* when the clock was read last for the policy */

    int64_t attended;      /* when the world outside was attended to last */
    int32_t patience_full; /* what `patience` starts from */
    uint32_t numbers;      /* threads that there ever were */
    struct timer *timers;
    struct dispatcher_thread *oldest, *newest;
    const struct dispatcher_driver *driver;
    const struct dispatcher_host *host;
    const struct catapults_policy *policy;
};

extern struct dispatcher dispatcher __attribute__((visibility("hidden")));

/* The policy has come into force; a thread has come into being. */
void dispatcher_clock_start(void);
void dispatcher_clock_adopt(struct dispatcher_thread *thread);

/* Tells a policy that is `clocked` what time it is; `running`: `current` runs, and is charged for the time since. */
void dispatcher_tell(bool running);

/* The same before each call of a handler, whatever the policy; `running` unless it is the one that decides who does. */
static inline void tell(bool running) {
    if (UNLIKELY(dispatcher.clocked))
        dispatcher_tell(running);
}

/* The policy is out: says so, and files all threads under the built-in FIFO as the host's book has them; `running` (or
 * NULL) is the one that is RUNNING. The event under way is complete then. */
void dispatcher_contain(const char *event, const struct catapults_stop *stop, const char *text,
                        const struct dispatcher_thread *running);

/* Runs out timers and polls the driver, without waiting; sets `patience`. No thread is RUNNING. */
void dispatcher_attend(void);

/* Waits for a timer or the driver. False: there is nothing to wait for. No thread is RUNNING. */
bool dispatcher_wait(void);

#endif
