/*
 * A virtual processor: what threads run on, one at a time. It is a kernel thread, unless activations carry it (see
 * sa.h).
 */
#ifndef CATAPULTS_CORE_PROCESSOR_H
#define CATAPULTS_CORE_PROCESSOR_H

#include "core/core.h"
#include "core/thread_record.h"

/* What whoever has the core is to do on this processor, all in one place (dispatcher/due.c). With the first two a
 * decision is not taken yet: `idle` is returned, and it is asked for anew after that. */
enum due {
    LOOK_OUTSIDE = 1, /* it is time to; what is ready is not known before */
    WAIT_OUTSIDE = 2, /* one processor: nothing can run */
    UNDECIDED = LOOK_OUTSIDE | WAIT_OUTSIDE,
    ARM = 4,        /* it is to be interrupted at another instant: `armed` */
    TELL_OTHERS = 8 /* some processors are `told` something */
};

/* What a processor is told by another one, or by itself as it is about to sleep. */
enum told {
    WAKE = 1,     /* it sleeps: see dispatcher_host.wake */
    KICK = 2,     /* it sleeps in the driver */
    INTERRUPT = 4 /* see dispatcher_host.interrupt */
};

struct processor {
    struct core *core;                 /* of which it is one */
    struct dispatcher_thread *current; /* whose context runs, or ran last while none does */
    struct dispatcher_thread *turn;    /* whom the policies have RUNNING: `current`, as long as it runs for itself */
    union {
        struct {
            volatile bool polling; /* the driver is at work, and no thread is RUNNING */
            volatile bool looking; /* the same while one is, which loses the processor only afterwards */
        };
        volatile uint16_t attends; /* not 0: either */
    };
    int32_t patience;      /* decisions until the world outside is attended to; of several: see decide.c */
    int32_t patience_full; /* what `patience` starts from */
    uint8_t due;           /* enum due */
    uint8_t told;          /* enum told: what is to be done to it, by whoever has told so */
    int64_t attended;      /* when the world outside was attended to last */
    int64_t armed;         /* the instant at which it is to be interrupted; 0: it is not */
    int64_t tick;          /* while it is: from when on policies hear `tick` */
    bool timed;            /* some policy has timers or a handler of `tick` */
    volatile bool came;    /* it was interrupted while it was `polling` */
    volatile bool late;    /* it was interrupted in the runtime: the next decision attends to it */

    /* Of policies whose handlers may run for ever: see overrun.c. */
    struct scheduler *volatile handler_of; /* a handler of which runs; NULL: none */
    const void *volatile handler_on;       /* by which kernel thread: an address that only that one has */
    volatile uint64_t handler_call;        /* which call it is; and which was seen by the signal before */
    volatile uint64_t handler_seen;
    void *handler_jump[5];

    volatile uint32_t
        sampled;      /* ticks that were counted while a thread had the processor; and those of them for which */
    uint32_t charged; /* one was charged: see clock.c */

    const struct catapults_stop *stop; /* NULL, except while a `schedule` or a yield that stopped is dealt with */

    /* Of the host: variables of the kernel thread. */
    int *error_number;
    struct dispatcher_exceptions *exceptions;

    /* Where there are several: see decide.c, running_frames.c, processors.c. */
    uint32_t number;             /* the place in dispatcher.processors */
    struct scheduler *scheduler; /* which is asked: the root, or the instance for this one */
    struct scheduler *serves;    /* which was asked last: that, or the instance for another: see decide.c */
    int32_t decisions;           /* until the world outside is attended to */
    uint16_t frame;              /* of its turn; NOBODY: it has none, and a node (nodes.c) */
    uint16_t sees;               /* the frame in which it raises events: `frame`, but for a moment */
    uint32_t put_back;           /* turns in a row that were given back since they are to run elsewhere */
    bool parked;                 /* it is to take no more turns than those that must be taken here */
    bool over;                   /* another processor's event has ended its turn */
    bool anew;                   /* or what another runs on it: see core_look_at_turns */
    bool expected;               /* between turns: something has become READY that it takes next */
    bool sorted;                 /* the policy has chosen anew among those whose turns wait here */
    bool settles;                /* at its next decision, whoever lends to such is asked for, too */
    uint32_t kept;               /* threads that go on here only, with who runs; written by this one */
    /* See hand_over.c: who is to run on its turn, which was begun elsewhere; who runs now on the turn that it had,
     * until it rests; and the number that it had with that. */
    struct dispatcher_thread *handed, *handed_on;
    uint32_t number_before;
    bool recorded;                         /* a trace has it already that who goes on was dispatched */
    bool asleep;                           /* idle, and to be woken */
    bool woken;                            /* and was, but does not know it yet */
    struct dispatcher_thread *turns_first; /* that wait for it, linked by turn_next */
    void *host;                            /* what the host keeps of it */
    /* It is in the dispatcher, or on its way in or out: for its own handlers. Without the lock, and so not beside what
     * others look at. */
    _Alignas(8) volatile bool inside;
    struct dispatcher_thread idle; /* its own context, which runs while no thread does; in no policy */
};

#endif
