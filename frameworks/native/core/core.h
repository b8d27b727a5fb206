/*
 * The core that decides which thread runs where: an event of a thread goes in, who goes on comes out. It has the tree
 * of schedulers, what is RUNNING on each processor, donation, timers, the containment of policies, and accounting. It
 * changes no context, takes no lock, sleeps nowhere, allocates nothing, and knows no kernel thread: whoever has an
 * instance of it (struct core, state.h) calls it with the processor that acts, and does what it says. That is the
 * dispatcher here (../dispatcher).
 *
 * This file has what the core and those above it both speak of. To read the core, begin with:
 *
 *     state.h, processor.h, scheduler.h, thread_record.h   what it keeps
 *     events.h                                             an event of a thread, and the decision after it
 *     tree.c                                               down to a thread through several schedulers, and up again
 *     donation.c, containment.c, clock.c                   what else may come of an event
 *     decide.c, frames.c, running_frames.c                 the same on several processors
 *
 * All other files are for one thing each, which their first line says.
 */
#ifndef CATAPULTS_CORE_H
#define CATAPULTS_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "native_policy.h"

/* Why a thread blocks: one for each block.* event of native.framework, in its order. */
enum dispatcher_reason {
    BLOCK_IO_READ,
    BLOCK_IO_WRITE,
    BLOCK_IO_ACCEPT,
    BLOCK_IO_CONNECT,
    BLOCK_IO_FILE,
    BLOCK_LOCK,
    BLOCK_CONDITION,
    BLOCK_JOIN,
    BLOCK_SLEEP,
    BLOCK_KERNEL,
    BLOCK_SCHEDULER,
    BLOCK_PORT,
    BLOCK_SIGNAL
};

/* No timer. The same as CATAPULTS_FOREVER. */
#define DISPATCHER_FOREVER INT64_MAX

/* The dispatcher's record of a thread; the policy's part is its last member. See thread_record.h. */
struct dispatcher_thread;

/* One instance of a policy, and to its parent a thread. See scheduler.h. */
struct scheduler;

enum { DISPATCHER_PROCESSORS = 128 };

/* Looks after operations that are under way outside: descriptors, files. Set once, before any thread blocks on one. */
struct dispatcher_driver {
    /* Calls dispatcher_unblock for each thread whose operation has finished. Sleeps until there is one or the instant
     * is reached; returns at once if the instant is 0 or past. No thread is RUNNING meanwhile, so it is not
     * interrupted. */
    void (*poll)(int64_t instant);
    /* Whether any operation is under way; if not, and no timer is set, nothing can ever unblock a thread. */
    bool (*busy)(void);
    /* For several processors, or NULL: ends the sleep of the `poll` that another one is in. That one leaves while it
     * sleeps (dispatcher_leave), and no other polls meanwhile, but with an instant below 0, which is to look for what
     * has finished here only. Without dispatcher_enter. */
    void (*kick)(void);
};

/* What would be if the caller waited by *to. */
enum dispatcher_cycle {
    CYCLE_NONE,
    CYCLE_OPEN,  /* somebody would wait for itself, but part of that ends at some instant, or it waits for a message */
    CYCLE_CLOSED /* a deadlock of locks and joins */
};

/* Why a policy had to go. */
struct dispatcher_failure {
    const struct scheduler *scheduler;
    const struct catapults_policy *policy;   /* that it had */
    const char *event;                       /* that was raised */
    const struct catapults_stop *stop;       /* what the handler stopped at; or NULL, and then: */
    const char *text;                        /* what it did against the rules of native.framework; NULL, and then: */
    bool overran;                            /* its handler ran for too long, and was left */
    const struct dispatcher_thread *starved; /* or this thread has been READY for too long */
    int64_t threads;                         /* that go on under the built-in FIFO; schedulers count */
};

/* Of C++, per kernel thread: the exceptions that are being handled, and how many are on their way (Itanium C++
 * ABI, 2.2.2). */
struct dispatcher_exceptions {
    void *caught;
    unsigned uncaught;
};

/* What threads run on. See processor.h. */
struct processor;

/* What the dispatcher needs of the world. */
struct dispatcher_host {
    unsigned long record; /* bytes from the record that a word names (thread_record.h) to the dispatcher's */
    int64_t (*now)(void); /* nanoseconds, monotonic; also `now` of the policies that ask for it */
    /* Variables of the kernel thread that each thread has for its own: kept across switches, zero in a new thread. */
    int *error_number;
    struct dispatcher_exceptions *exceptions;
    /* The policy has been made acquainted with a thread, and knows it by no event yet. It can be left out if the policy
     * imports nothing of its threads. */
    void (*adopted)(struct dispatcher_thread *thread);
    /* The same of the record of a scheduler, which is a thread to its parent (scheduler_of). Its own policy has been
     * started, and nothing is under it yet. NULL: nothing is to be done. */
    void (*scheduler_adopted)(struct dispatcher_thread *record);
    void (*scheduler_started)(struct scheduler *scheduler);
    /* How long a thread may be READY while others are dispatched, in nanoseconds; 0: for ever. */
    int64_t starvation_limit;
    uint64_t seed; /* of what policies draw; 0: CATAPULTS_RANDOM_SEED */
    /* A trace is recorded, and it has a thread now, which has not run yet: what else is known of it can be added. */
    void (*recorded)(struct dispatcher_thread *thread);
    /* A policy had to go. */
    void (*contained)(const struct dispatcher_failure *failure);
    /* There is time for work that nobody waits for: does some 20 microseconds of it. Whether more is left. It is asked
     * when nothing is to be run, and else at most every millisecond. NULL: there is none. */
    bool (*tidy)(void);
    /* Has the processor that calls interrupted at an instant: see dispatcher_interrupted. NULL: no preemption by time.
     */
    void (*arm)(int64_t instant);
    /* Several processors: they share one lock, which is held by whoever is between dispatcher_enter and
     * dispatcher_leave. `lock` NULL: there is one only. */
    void (*lock)(void), (*unlock)(void);
    /* Sleeps, holding the lock before and afterwards but not meanwhile, until the processor, which is that of the
     * caller, is woken; by another, once, without the lock. */
    void (*sleep)(struct processor *processor);
    void (*wake)(struct processor *processor);
    /* Calls dispatcher_interrupted soon on the kernel thread of another processor, or, if there is no preemption by
     * time, dispatcher_entered; or NULL. */
    void (*interrupt)(struct processor *processor);
    /* Several processors, or NULL. Asked whenever the world outside is attended to: whether another number of them is
     * to take turns now. If so, the other is called soon, by a thread as any call is, or by a processor that is idle,
     * to call dispatcher_set_processors. */
    bool (*resized)(int64_t now);
    void (*resize)(void);
    /* Several processors, or NULL: threads that are interrupted stay on no kernel thread of ours. One more kernel
     * thread, for dispatcher_add_spare. Called by a processor that is idle. False: it cannot be had. */
    bool (*another)(void);
    int64_t tick; /* at most so many nanoseconds apart, while there is a reason for them */
    /* From now on calls dispatcher_sampled on each processor whenever its kernel thread has run for a tick, whenever
     * that is; asked for more than once. NULL: accounting is by time stamps. */
    void (*sample)(void);
    /* Whenever another thread goes on, on the kernel thread that it does so on: what that keeps for threads is `from`'s
     * and becomes `to`'s. NULL: none, as it has ended, or nothing is to be done. If it is set, whoever makes threads
     * sets `excepted` of each, as if there were exceptions. NULL: nobody needs it. */
    void (*exchange)(struct dispatcher_thread *from, struct dispatcher_thread *to);
    /* After dispatcher_signalled; NULL: nobody calls that. Nothing is in the middle of anything; it may call
     * dispatcher_unblock_only and dispatcher_unblocked. */
    void (*signalled)(void);
    /* The same, if that has said that it should be called again: a thread goes on that could have been switched out. */
    void (*undisturbed)(void);
    /* Several processors, once dispatcher_expect_signals has been called: the thread is about to go on. */
    void (*about_to_run)(struct dispatcher_thread *thread);
    /* No thread can ever run again; dispatcher_first_thread says which there are. Does not return. */
    void (*deadlocked)(void);
    /* The last thread has ended. Does not return. */
    void (*finished)(void);
};

#endif
