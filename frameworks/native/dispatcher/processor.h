/*
 * A virtual processor: what threads run on, one at a time.
 */
#ifndef CATAPULTS_PROCESSOR_H
#define CATAPULTS_PROCESSOR_H

#include "dispatcher/dispatcher.h"

struct processor {
    struct dispatcher_thread *current; /* whose context runs, or ran last while none does */
    struct dispatcher_thread *turn;    /* whom the policies have RUNNING: `current`, as long as it runs for itself */
    volatile bool polling;             /* the driver is at work, and no thread is RUNNING */
    volatile int32_t patience;         /* decisions until the world outside is attended to */
    int32_t patience_full;             /* what `patience` starts from */
    int64_t attended;                  /* when the world outside was attended to last */
    int64_t armed;                     /* the instant at which it is to be interrupted; 0: it is not */
    bool looking;                      /* the same while one is, which loses the processor only afterwards */
    bool timed;                        /* some policy has timers or a handler of `tick` */
    volatile bool came;                /* it was interrupted while it was `polling` */
    volatile bool late;                /* it was interrupted in the runtime: the next decision attends to it */

    /* Of policies whose handlers may run for ever: see watch.c. */
    struct scheduler *volatile handler_of; /* a handler of which runs; NULL: none */
    volatile uint64_t handler_call;        /* which call it is; and which was seen by the signal before */
    volatile uint64_t handler_seen;
    void *handler_jump[5];

    const struct catapults_stop *stop; /* NULL, except while a `schedule` that stopped is dealt with */

    /* Of the host: variables of the kernel thread. */
    int *error_number;
    struct dispatcher_exceptions *exceptions;
};

extern struct processor dispatcher_processor __attribute__((visibility("hidden")));

/* The one that the caller runs on. After a switch it may be another one. */
static inline __attribute__((always_inline)) struct processor *processor_here(void) { return &dispatcher_processor; }

#endif
