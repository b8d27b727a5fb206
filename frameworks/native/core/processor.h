/*
 * A virtual processor: what threads run on, one at a time. It is a kernel thread, unless activations carry it (see
 * sa.h).
 */
#ifndef CATAPULTS_CORE_PROCESSOR_H
#define CATAPULTS_CORE_PROCESSOR_H

#include "core/core.h"
#include "core/thread_record.h"

/* What the owner of the core is to do on this processor, all in one place (dispatcher/due.c). With the first two no
 * decision has been taken: `idle` is returned, and the decision is asked for again afterwards. */
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
    struct core *core;                 /* whose processor it is */
    struct dispatcher_thread *current; /* the thread whose context runs, or ran last while none does */
    struct dispatcher_thread *turn;    /* the thread that policies have RUNNING: `current`, as long as that runs for
                                          itself */
    union {
        struct {
            volatile bool polling; /* the driver is at work, and no thread is RUNNING */
            volatile bool looking; /* the same while a thread is RUNNING, which loses the processor only afterwards */
        };
        volatile uint16_t attends; /* not 0: either */
    };
    int32_t patience;      /* decisions until the world outside is attended to; several processors: see decide.c */
    int32_t patience_full; /* what `patience` starts from */
    int32_t cut;           /* what was left of it when it was ended early */
    uint8_t due;           /* enum due */
    uint8_t told;          /* enum told: what the one that told it still has to do to it */
    int64_t attended;      /* when the world outside was last attended to */
    int64_t armed;         /* the instant at which it is to be interrupted; 0: it is not */
    int64_t tick;          /* while it is: from when on policies hear `tick` */
    bool timed;            /* some policy has timers or a handler of `tick` */
    volatile bool came;    /* it was interrupted while it was `polling` */
    volatile bool late;    /* it was interrupted in the runtime: the next decision attends to it */

    /* For policies whose handlers may run for ever: see overrun.c. */
    struct scheduler *volatile handler_of; /* whose handler runs; NULL: none */
    const void *volatile handler_on;       /* on which kernel thread: an address that only that one has */
    volatile uint64_t handler_call;        /* the number of the call; and the one that the last signal saw */
    volatile uint64_t handler_seen;
    void *handler_jump[5];

    volatile uint32_t sampled; /* ticks that were counted while a thread had the processor; and those for which */
    uint32_t charged;          /* a thread was charged: see clock.c */

    const struct catapults_stop *stop; /* NULL, except while a stop of `schedule` or of a yield is dealt with */

    /* The host's: variables of the kernel thread. */
    int *error_number;
    struct dispatcher_exceptions *exceptions;

    /* Where there are several: see decide.c, running_frames.c, processors.c. */
    uint32_t number;             /* the place in dispatcher.processors */
    struct scheduler *scheduler; /* the one that it asks: the root, or its own instance */
    struct scheduler *serves;    /* the one that it asked last: that, or another's instance: see decide.c */
    int32_t decisions;           /* until the world outside is attended to */
    uint16_t frame;              /* of its turn; NOBODY: it has no turn, and has a node (nodes.c) */
    uint16_t sees;               /* the frame in which it raises events: `frame`, but for a moment */
    uint32_t put_back;           /* turns in a row that it gave back because they are to run elsewhere */
    bool parked;                 /* it takes no turns but those that must be taken here */
    bool over;                   /* an event of another processor has ended its turn */
    bool anew;                   /* or may have changed who runs on it: see core_look_at_turns */
    bool expected;               /* between turns: its next turn is for something that has become READY */
    bool sorted;                 /* the policy has chosen anew among the threads whose turns wait here */
    bool settles;                /* at its next decision, the donors of those threads look again, too */
    uint32_t kept;               /* threads that go on here only, the running one included; only this processor
                                    writes it */
    /* See hand_over.c: the thread that is to run on its turn, which was begun elsewhere; the thread that runs on the
     * turn that it handed on, until it rests; and its number before that. */
    struct dispatcher_thread *handed, *handed_on;
    uint32_t number_before;
    bool recorded;                         /* a trace already has the dispatch of the thread that goes on */
    bool asleep;                           /* idle, and to be woken */
    bool woken;                            /* and was woken, but does not know it yet */
    struct dispatcher_thread *turns_first; /* turns that wait for it, linked by turn_next */
    void *host;                            /* what the host keeps of it */
    /* It is in the dispatcher, or on its way in or out: for its own signal handlers. Used without the lock, and so not
     * beside what others look at. */
    _Alignas(8) volatile bool inside;
    struct dispatcher_thread idle; /* its own context, which runs while no thread does; in no policy */
};

/* The next decision attends to the world outside. Also for handlers of signals. */
static inline __attribute__((always_inline)) void core_look_next(struct processor *here) {
    here->cut += here->patience;
    here->patience = 0;
}

#endif
