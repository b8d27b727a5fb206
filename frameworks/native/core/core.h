/*
 * The core decides which thread runs where: an event of a thread goes in, the thread that goes on comes out. It has the
 * tree of schedulers, what is RUNNING on each processor, donation, timers, the containment of policies, and accounting.
 * It changes no context, takes no lock, sleeps nowhere, allocates nothing, and knows no kernel thread. The owner of an
 * instance (struct core, state.h) calls it with the processor that acts, and does what it says. In a process that is
 * the dispatcher (../dispatcher), in a simulation simulator/core.
 *
 * This file has what the core and the layers above it both speak of. To read the core, begin with:
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

/* One instance of a policy, and a thread to its parent. See scheduler.h. */
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
    /* For several processors, or NULL: ends the sleep of another processor in `poll`. That one leaves while it sleeps
     * (dispatcher_leave). Meanwhile others poll only with an instant below 0, which looks only for what has finished
     * here. Called without dispatcher_enter. */
    void (*kick)(void);
};

/* What would come of it if the caller waited by *to. */
enum dispatcher_cycle {
    CYCLE_NONE,
    CYCLE_OPEN,  /* a thread would wait for itself, but some of these waits end at an instant, or are for a message */
    CYCLE_CLOSED /* a deadlock of locks and joins */
};

/* Why a policy is out. */
struct dispatcher_failure {
    const struct scheduler *scheduler;
    const struct catapults_policy *policy;   /* the policy that it had */
    const char *event;                       /* the event that was raised */
    const struct catapults_stop *stop;       /* what the handler stopped at; or NULL, and then: */
    const char *text;                        /* which rule of native.framework it broke; NULL, and then: */
    bool overran;                            /* its handler ran for too long, and was left */
    const struct dispatcher_thread *starved; /* or this thread was READY for too long */
    int64_t threads;                         /* that go on under the built-in FIFO, schedulers included */
};

/* What C++ keeps per kernel thread: the exceptions being handled, and how many are on their way (Itanium C++ ABI,
 * 2.2.2). */
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
    /* Variables of the kernel thread of which each thread has its own value: kept across switches, zero in a new
     * thread. */
    int *error_number;
    struct dispatcher_exceptions *exceptions;
    /* The policy has adopted a thread, and no event has told it of the thread yet. The call can be left out if the
     * policy imports nothing of its threads. */
    void (*adopted)(struct dispatcher_thread *thread);
    /* The same for the record of a scheduler, which is a thread to its parent (scheduler_of). Its own policy has been
     * started, and nothing is under it yet. NULL: nothing is to be done. */
    void (*scheduler_adopted)(struct dispatcher_thread *record);
    void (*scheduler_started)(struct scheduler *scheduler);
    /* How long a thread may be READY while others are dispatched, in nanoseconds; 0: for ever. */
    int64_t starvation_limit;
    uint64_t seed; /* of what policies draw; 0: CATAPULTS_RANDOM_SEED */
    /* A trace is recorded, and now has a thread that has not run yet: what else is known of the thread can be added. */
    void (*recorded)(struct dispatcher_thread *thread);
    /* A policy is out. */
    void (*contained)(const struct dispatcher_failure *failure);
    /* Does some 20 microseconds of the work that nobody waits for. Returns whether more is left. Called when nothing is
     * to be run, and otherwise at most every millisecond. NULL: there is no such work. */
    bool (*tidy)(void);
    /* Has the calling processor interrupted at an instant: see dispatcher_interrupted. NULL: no preemption by time. */
    void (*arm)(int64_t instant);
    /* Several processors share one lock, which is held between dispatcher_enter and dispatcher_leave. `lock` NULL:
     * there is one processor only. */
    void (*lock)(void), (*unlock)(void);
    /* The first sleeps until the caller's processor is woken, and has the lock before and afterwards but not meanwhile.
     * Another processor calls the second once, without the lock. */
    void (*sleep)(struct processor *processor);
    void (*wake)(struct processor *processor);
    /* Calls dispatcher_interrupted soon on the kernel thread of another processor; or dispatcher_entered, if there is
     * no preemption by time. May be NULL. */
    void (*interrupt)(struct processor *processor);
    /* For several processors, or NULL. The first is asked whenever the world outside is attended to: whether another
     * number of processors is to take turns now. If so, the second is called soon, by a thread in any call or by an
     * idle processor, to call dispatcher_set_processors. */
    bool (*resized)(int64_t now);
    void (*resize)(void);
    /* For several processors, or NULL: interrupted threads stay on no kernel thread of ours. Makes one more kernel
     * thread, for dispatcher_add_spare. Called by an idle processor. False: it cannot be had. */
    bool (*another)(void);
    int64_t tick; /* nanoseconds between ticks at most, while there is a reason for them */
    /* From now on calls dispatcher_sampled on each processor whenever its kernel thread has run for a tick. May be
     * called more than once. NULL: accounting is by time stamps. */
    void (*sample)(void);
    /* Called whenever another thread goes on, on its kernel thread: what that keeps for threads is `from`'s and becomes
     * `to`'s. Either may be NULL: the thread has ended, or nothing is to be done. If this is set, `excepted` must be
     * set in each new thread, as if there were exceptions. NULL: nobody needs it. */
    void (*exchange)(struct dispatcher_thread *from, struct dispatcher_thread *to);
    /* Called after dispatcher_signalled, when nothing is in the middle of anything. It may call dispatcher_unblock_only
     * and dispatcher_unblocked. NULL: nobody calls dispatcher_signalled. */
    void (*signalled)(void);
    /* The same, if that has asked to be called again: a thread goes on that could have been switched out. */
    void (*undisturbed)(void);
    /* For several processors, once dispatcher_expect_signals has been called: the thread is about to go on. */
    void (*about_to_run)(struct dispatcher_thread *thread);
    /* No thread can ever run again; dispatcher_first_thread says which there are. Does not return. */
    void (*deadlocked)(void);
    /* The last thread has ended. Does not return. */
    void (*finished)(void);
    /* A check has failed (builds with CATAPULTS_CHECKED): the program is killed next. NULL: nothing is said. */
    void (*inconsistent)(const char *what);
};

#endif
