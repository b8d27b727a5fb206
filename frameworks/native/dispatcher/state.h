/*
 * What the files of the dispatcher share: its state, and what is too rare to stand in the way of dispatcher.c.
 */
#ifndef CATAPULTS_STATE_H
#define CATAPULTS_STATE_H

#include "dispatcher/builtin.h"
#include "dispatcher/dispatcher.h"
#include "dispatcher/processor.h"
#include "dispatcher/record.h"
#include "dispatcher/scheduler.h"

#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)

struct dispatcher {
    struct scheduler root;
    uint32_t numbers; /* threads that there ever were */
    struct timer *timers;
    struct dispatcher_thread *oldest, *newest;
    const struct dispatcher_driver *driver;
    const struct dispatcher_host *host;
};

extern struct dispatcher dispatcher __attribute__((visibility("hidden")));

/* A policy has come into force; a thread has come under it. */
void dispatcher_clock_start(struct scheduler *scheduler);
void dispatcher_clock_adopt(struct dispatcher_thread *thread);

/* Tells a scheduler that is `clocked` what time it is; `running`: what is RUNNING under it is charged for the time
 * since.
 */
void dispatcher_tell(struct scheduler *scheduler, bool running);

/* The same before each call of a handler, whatever the policy; `running` unless it is the one that decides who does. */
static inline void tell(struct scheduler *scheduler, bool running) {
    if (UNLIKELY(scheduler->clocked))
        dispatcher_tell(scheduler, running);
}

/* The policy of `scheduler` is out: says so, and files all that is under it under the built-in FIFO, as the host's book
 * has it; `running` (or NULL) is the thread that is RUNNING. The event under way is complete then. */
void dispatcher_contain(struct scheduler *scheduler, const char *event, const struct catapults_stop *stop,
                        const char *text, const struct dispatcher_thread *running);

/* Runs out timers and polls the driver, without waiting; sets `patience`. No thread is RUNNING. */
void dispatcher_attend(void);

/* Waits for a timer or the driver. False: there is nothing to wait for. No thread is RUNNING. */
bool dispatcher_wait(void);

#endif
