/*
 * What the files of the dispatcher share: its state, and what is too rare to stand in the way of dispatcher.c.
 */
#ifndef CATAPULTS_STATE_H
#define CATAPULTS_STATE_H

#include "dispatcher/builtin.h"
#include "dispatcher/dispatcher.h"
#include "dispatcher/record.h"

#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)

struct dispatcher {
    struct dispatcher_thread *current; /* that runs, or ran last while none does */
    const struct native_handlers *handlers;
    void *instance;
    catapults_time *now;               /* of the instance: where the policy reads `now`; NULL: it does not */
    bool inlined;                      /* the policy in force is the one that is compiled in */
    bool polling;                      /* the driver is at work, and no thread is RUNNING */
    int32_t patience;                  /* decisions until the world outside is attended to */
    int64_t runnable;                  /* threads that are READY or RUNNING */
    const struct catapults_stop *stop; /* NULL, except while a `schedule` that stopped is dealt with */
    int *error_number;                 /* of the host */
    struct dispatcher_exceptions *exceptions;

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

/* Tells the policy in force what time it is, before one of its handlers is called. */
static inline void tell_now(void) {
    if (UNLIKELY(dispatcher.now))
        *dispatcher.now = dispatcher.host->now();
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
