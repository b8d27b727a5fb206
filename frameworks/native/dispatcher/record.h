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
 * yield writes nothing here.
 */
enum dispatcher_state {
    THREAD_RUNNABLE,
    THREAD_BLOCKED,
    THREAD_SUSPENDED,
    THREAD_ENDED,
    /* Instead of the first, of what a scheduler is to its parent: something under it is RUNNABLE. So one look at what
     * was dispatched tells a thread from a scheduler. */
    SCHEDULER_RUNNABLE
};

struct scheduler;

struct dispatcher_thread {
    struct scheduler *scheduler; /* that it is under */
    struct timer timer;
    struct dispatcher_thread *older, *newer; /* all threads, in order of their numbers */
    struct context context;
    int error_number; /* while it does not run: its errno, and its C++ exceptions */
    struct dispatcher_exceptions exceptions;
    uint8_t state;        /* enum dispatcher_state */
    uint8_t reason;       /* while THREAD_BLOCKED: enum dispatcher_reason */
    bool to_be_suspended; /* while THREAD_BLOCKED: as soon as it no longer is */
    uint32_t room;        /* bytes of `policy`, with the attributes that it has room for; set by whoever makes it */
    bool timed_out;       /* the instant came before dispatcher_unblock */
    _Alignas(16) struct catapults_thread policy; /* last: the policy's attributes follow */
};

static inline struct dispatcher_thread *dispatcher_thread_of(struct catapults_thread *t) {
    return (struct dispatcher_thread *)((char *)t - offsetof(struct dispatcher_thread, policy));
}

#endif
