/*
 * The dispatcher's record of a thread. Whoever makes threads embeds it as the last member of a record of its own, and
 * reserves dispatcher_thread_size() bytes for it.
 */
#ifndef CATAPULTS_RECORD_H
#define CATAPULTS_RECORD_H

#include "contexts/context.h"
#include "dispatcher/dispatcher.h"
#include "dispatcher/timer.h"
#include "native_policy.h"

/*
 * The host's book on each thread. A thread that runs stays RUNNABLE: that it is `current` says the rest, so that a
 * yield writes nothing here. One that is LENDING is READY or RUNNING to its policy, and another runs on its turns: see
 * donation.c.
 */
enum dispatcher_state {
    THREAD_RUNNABLE,
    THREAD_BLOCKED,
    THREAD_SUSPENDED,
    THREAD_ENDED,
    THREAD_LENDING,
    THREAD_MARKED,  /* RUNNABLE, and not dispatched since starvation.c has looked */
    THREAD_PUT_OFF, /* too many turns wait already: see put_off.c */
    /* Instead of the first, of what a scheduler is to its parent: something under it is RUNNABLE. So one look at what
     * was dispatched tells a thread from a scheduler. */
    SCHEDULER_RUNNABLE
};

struct processor;
struct scheduler;

/*
 * What names a thread in a word of memory, such as the owner of a mutex: the address of its record, in the lowest bit
 * something of the word's own, and above the address its generation, by which it is told from others whose record lies
 * there later. Generation 0: the thread cannot have ended.
 */
#define DISPATCHER_NAME_BITS 48
#define DISPATCHER_NAME_ADDRESS ((((uintptr_t)1 << DISPATCHER_NAME_BITS) - 1) & ~(uintptr_t)1)

/* What a switch touches lies together at the end, in one line of a cache with the beginning of the policy's part; what
 * a wait does is before it. */
struct dispatcher_thread {
    struct scheduler *scheduler; /* that it is under */
    union {
        struct dispatcher_thread *older; /* of a thread */
        struct scheduler *below;         /* of a scheduler's record: the scheduler */
    };
    struct dispatcher_thread *newer;         /* all threads, in order of their numbers; all records of the scheduler */
    struct dispatcher_exceptions exceptions; /* while it does not run, if it is `excepted`; else there are none */
    struct dispatcher_thread *stalled_next, *stalled_previous; /* in the list of `stalled_on`; of the first: the last */
    uint32_t room;       /* bytes of `policy`, with the attributes that it has room for */
    uint16_t via;        /* of several processors, while it is RUNNING: for which of its scheduler's records, from 0 */
    uint16_t turn_frame; /* while `turn_waits`: the frame in which it is RUNNING; */
    struct dispatcher_thread *turn_next; /* who waits behind it, or is put off after it, */
    struct processor *turn_for;          /* and for which processor */

    struct timer timer;
    uint64_t bound;             /* to these processors, by their numbers; 0: to none */
    struct processor *kept_on;  /* it was interrupted in its own code, and goes on here only; or NULL */
    bool turn_waits;            /* it is RUNNING, and waits for its processor: see decide.c */
    bool homeless;              /* its processor has departed, and it is to be placed once it can run: see nodes.c */
    uint8_t reason;             /* while it waits: enum dispatcher_reason */
    bool timed_out;             /* the instant came before dispatcher_unblock */
    uint16_t generation;        /* set by whoever makes it: see above */
    uint16_t runs_in;           /* of several processors: the frame on whose turn it runs, or is to run; or NOBODY */
    int64_t consumed;           /* nanoseconds that it has been RUNNING, if anybody asks: see clock.c */
    const uintptr_t *waits_for; /* what names the thread that it waits for (dispatcher_wait_for); NULL: not known */
    /* The end of its chain could not run: then it is BLOCKED, and in the list of that end. Of several processors: this
     * one itself, which is in a list of stalled.c. */
    struct dispatcher_thread *stalled_on;
    union {
        struct dispatcher_thread *stalled; /* behind this one: the first that came; with several processors NULL */
        struct dispatcher_thread *stalled_other; /* of several processors, while it is stalled: see stalled.c */
    };

    bool turn_stays;   /* as long as it is put off: it has the place of a donor that comes earlier */
    uint8_t spare[23]; /* the next line begins here, as records begin with one */
    uint8_t state;     /* enum dispatcher_state */
    bool own_turn;     /* it is to run on a turn of its own only, for an event of the running thread */
    bool is_scheduler; /* it is the record of a scheduler */
    bool excepted;     /* it handles C++ exceptions, or some are on their way; while it runs: not known */
    int error_number;  /* while it does not run */
    uint32_t held;     /* see dispatcher_hold */
    union {
        struct {
            bool to_be_suspended; /* while it waits: as soon as it no longer does */
            bool set_aside;       /* it blocked on the turn of another, or is put off, or another policy has
                                     come: this one was told suspend_thread, and is to be told resume_thread */
            bool lends;           /* it waits for a thread that is to run on its turns */
            bool relays;          /* a thread that is stalled may be so behind this one */
        };
        uint32_t unusual; /* not 0: any of these. Not beside `state`, so that one load is not of both: it would have to
                             wait until what was stored there is in the cache */
    };
    struct context context;
    struct dispatcher_thread *follower;          /* who ran some switches after it: see foresight.h */
    _Alignas(16) struct catapults_thread policy; /* last: the policy's attributes follow */
};

/* Of whoever makes a thread, before it says `room`, `generation` and `bound`: all else is 0 then that dispatcher_create
 * does not set. */
static inline void record_clear(struct dispatcher_thread *thread) {
    enum {
        START = offsetof(struct dispatcher_thread, timer.node.previous),
        END = offsetof(struct dispatcher_thread, context)
    };
    /* In pieces that are a few instructions each: all at once it is one that takes its time to begin. */
    enum { PIECE = 32, PIECES = (END - START) / PIECE };
    char *piece = (char *)thread + START;
#pragma GCC unroll 8
    for (int i = 0; i < PIECES; i++, piece += PIECE)
        __builtin_memset(piece, 0, PIECE);
    __builtin_memset(piece, 0, (END - START) % PIECE);
}
_Static_assert(THREAD_RUNNABLE == 0, "record_clear");
_Static_assert(offsetof(struct dispatcher_thread, state) % 64 == 0 &&
                   (sizeof(struct tools_context) > 0 ||
                    offsetof(struct dispatcher_thread, policy.number) - offsetof(struct dispatcher_thread, state) < 64),
               "what a switch touches");

static inline struct dispatcher_thread *dispatcher_thread_of(struct catapults_thread *t) {
    return (struct dispatcher_thread *)((char *)t - offsetof(struct dispatcher_thread, policy));
}

/* Whether it is in dispatcher_block or dispatcher_wait_for, and so may be unblocked. */
static inline bool dispatcher_is_blocked(const struct dispatcher_thread *thread) {
    return thread->state == THREAD_BLOCKED || thread->state == THREAD_LENDING;
}

/* Whether it lends its turns, and has nothing else to do than to go on when it need not any longer. */
static inline bool is_lending_only(const struct dispatcher_thread *thread) {
    return thread->state == THREAD_LENDING && !thread->to_be_suspended && !thread->relays &&
           !timer_is_set(&thread->timer);
}

/* Whether it is READY or RUNNING to its policy. */
static inline bool dispatcher_is_runnable(const struct dispatcher_thread *member) {
    return member->state == THREAD_RUNNABLE || member->state == THREAD_MARKED || member->state == THREAD_LENDING ||
           member->state == SCHEDULER_RUNNABLE;
}

#endif
