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
    THREAD_MARKED, /* RUNNABLE, and not dispatched since starvation.c has looked */
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

struct dispatcher_thread {
    struct scheduler *scheduler; /* that it is under */
    struct timer timer;
    int64_t consumed;                        /* nanoseconds that it has been RUNNING, if anybody asks: see clock.c */
    struct dispatcher_thread *older, *newer; /* all threads, in order of their numbers */
    struct context context;
    int error_number; /* while it does not run: its errno, and its C++ exceptions */
    struct dispatcher_exceptions exceptions;
    uint8_t state;        /* enum dispatcher_state */
    uint8_t reason;       /* while THREAD_BLOCKED: enum dispatcher_reason */
    bool to_be_suspended; /* while it waits: as soon as it no longer does */
    bool set_aside;       /* it blocked on the turn of another, or another policy has come: this
                             one was told suspend_thread, and is to be told resume_thread */
    bool own_turn;        /* it is to run on a turn of its own only, for an event of the running thread */
    bool lends;           /* it waits for a thread that is to run on its turns */
    bool relays;          /* a thread that is stalled may be so behind this one */
    bool is_scheduler;    /* it is the record of a scheduler */
    uint32_t room;        /* bytes of `policy`, with the attributes that it has room for; set by whoever makes it */
    uint32_t held;        /* see dispatcher_hold */
    uint16_t generation;  /* set by whoever makes it: see above */
    bool turn_waits;      /* it is RUNNING, and waits for its processor: see decide.c */
    uint16_t turn_frame;  /* while it does: the frame in which it is RUNNING; */
    struct dispatcher_thread *turn_next; /* who waits behind it, */
    struct processor *turn_for;          /* and for which processor */
    uint64_t bound;             /* to these processors, by their numbers; 0: to none; set by whoever makes it */
    struct processor *kept_on;  /* it was interrupted in its own code, and goes on here only; or NULL */
    bool timed_out;             /* the instant came before dispatcher_unblock */
    const uintptr_t *waits_for; /* what names the thread that it waits for (dispatcher_wait_for); NULL: not known */
    /* The end of its chain could not run: then it is BLOCKED, and in the list of that end. */
    struct dispatcher_thread *stalled_on, *stalled_next, *stalled_previous;
    struct dispatcher_thread *stalled;           /* behind this one: the last that came */
    _Alignas(16) struct catapults_thread policy; /* last: the policy's attributes follow */
};

static inline struct dispatcher_thread *dispatcher_thread_of(struct catapults_thread *t) {
    return (struct dispatcher_thread *)((char *)t - offsetof(struct dispatcher_thread, policy));
}

/* Whether it is READY or RUNNING to its policy. */
static inline bool dispatcher_is_runnable(const struct dispatcher_thread *member) {
    return member->state == THREAD_RUNNABLE || member->state == THREAD_MARKED || member->state == THREAD_LENDING ||
           member->state == SCHEDULER_RUNNABLE;
}

#endif
