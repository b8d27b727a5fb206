/*
 * Catapults: threads, from beginning to end, and the clock. Part of catapults.h.
 */
#ifndef CATAPULTS_THREADS_H
#define CATAPULTS_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Threads ----------------------------------------------------------------------------------------------------- */

typedef struct catapults_handle *catapults_t;

struct catapults_value;

struct catapults_attributes {
    const char *name;  /* for messages, traces and debuggers; copied, cut at 31 bytes */
    size_t stack_size; /* bytes; 0: that of the options */
    void *object;      /* where the policy's per-thread imports are read: see catapults_threadvar_register */
    bool detached;
    struct catapults_scheduler *scheduler; /* which schedules it (schedulers.h); NULL: the default of the hierarchy,
                                              else the root */
    struct catapults_port *scheduled_by;   /* the thread is under no policy: the thread that receives at that port
                                              schedules it (ports.h). `scheduler` and `values` are not used then */
    uint64_t processors;                   /* where it may run: see catapults_setaffinity; 0: on all */
    const struct catapults_value *values;  /* of the policy's per-thread imports: see catapults/imports.h */
    size_t values_count;
    int64_t period; /* nanoseconds from one job to the next: see catapults_next_period; 0: it has no jobs */
};

/* Creates a thread. All threads share the floating-point environment (fenv.h): a rounding mode is set for the process.
 * EAGAIN: no memory, or the policy refused the thread (catapults_refusal says why). EINVAL: for `values` or
 * `processors`, or `period` is below 0. EPERM: there was no catapults_init. `attributes` and `thread` may be NULL. */
int catapults_create(catapults_t *thread, const struct catapults_attributes *attributes, void *(*start)(void *),
                     void *argument);
/* The reason of the `fail` that refused the caller's last request, with its values; NULL: it was not refused. It is
 * valid until the caller's next request. */
const char *catapults_refusal(void);

/* EDEADLK, EINVAL (detached, or joined by another). `result` may be NULL. */
int catapults_join(catapults_t thread, void **result);
int catapults_join_until(catapults_t thread, void **result, int64_t instant); /* ETIMEDOUT: it can still be joined */
int catapults_tryjoin(catapults_t thread, void **result);                     /* EBUSY: it has not ended */
/* The same, but the caller lends its turns to the thread until that ends (1996, §3.4). catapults_join does not: the
 * joined thread would have two turns where others have one. */
int catapults_join_donating(catapults_t thread, void **result);

/* Puts `thread` under one more policy (1996, §4.5). Creates a thread with these attributes that lends all its turns to
 * `thread`, and ends with it. `scheduler` says which policy; the stack can be the smallest; NULL: as for
 * catapults_create. Several may stand in for one thread. ESRCH: it has ended; or as catapults_create. */
int catapults_stand_in(catapults_t thread, const struct catapults_attributes *attributes);

int catapults_detach(catapults_t thread);
__attribute__((noreturn)) void catapults_exit(void *result); /* see catapults/cancel.h */
catapults_t catapults_self(void);
const char *catapults_name(catapults_t thread);

/*
 * As fork(2). In the child the caller is the only thread. The stacks of the others are given back, and none of their
 * handlers and destructors run. What they hold stays locked, except robust mutexes: the next to lock one is told that
 * its owner has ended. Nobody waits any more for what they waited for, and a call through a port that was received
 * counts as given up. The policies begin anew, with this thread as their first, so what they noted of it is lost.
 * Variables stay linked, and values set by catapults_set_values and catapults_scheduler_set_values stay set. Nothing is
 * under way for descriptors, and nothing is recorded. If the child cannot go on, it says why and ends with
 * EXIT_FAILURE. Use pthread_atfork for what the application has to do. A child of fork(2) itself can only call exec or
 * _exit.
 */
pid_t catapults_fork(void);

void catapults_yield(void);
int catapults_yield_to(catapults_t thread); /* asks for `thread` next; EAGAIN: it cannot run; this only yields */

/* A thread that is suspended while it waits goes on waiting, and is suspended when that is over. Meanwhile it holds up
 * no other waiting thread. A mutex or a read-write lock that it could have is left to others, and it looks for the lock
 * again when it is resumed. What is given away once (the post of a semaphore, a signal to a condition, a message) goes
 * first to threads that are not suspended, and to it if there is no other. POSIX has no such call; GNU Pth has it so.
 * ESRCH. A thread may suspend itself. */
int catapults_suspend(catapults_t thread);
int catapults_resume(catapults_t thread); /* EINVAL: it is not suspended */

/* ---- Preemption -------------------------------------------------------------------------------------------------- */

/*
 * While a thread runs and others are ready, the processor is interrupted at the instants of the policy's timers, so
 * that `timeout.NAME` can take it from the thread, and every `tick` (catapults_options) if the policy handles that
 * event. It is also interrupted when a thread that sleeps or waits with a time-out is to wake, or up to 50 microseconds
 * later; and every `tick` while threads wait for descriptors, so that a thread that computes does not keep them from
 * becoming ready. In no other case.
 *
 * A thread is interrupted only in the application's own code: the executable's. What it calls in libc, in other
 * libraries or here is finished first. A statically linked program is not preempted: its libc could not be told from
 * its own code.
 *
 * - The signal is SIGURG. One from elsewhere goes to the handler that the application had when it called
 *   catapults_init. An application that blocks it, or any other signal after catapults_init, is not preempted
 *   meanwhile. Nor are its signal handlers, which are known by the signals that they block or by the stack that they
 *   run on: so a handler with SA_NODEFER needs SA_ONSTACK, too, or a sa_mask.
 * - System calls are restarted (SA_RESTART), except those that never are, such as poll, select, epoll_wait, nanosleep,
 *   and sockets with a time-out (signal(7)). If the application itself makes such a call, it stops all threads anyway,
 *   and returns EINTR. The calls of catapults.h never do for that; for handlers of the application see
 *   catapults/signals.h.
 * - A stack needs room for a frame of the kernel, up to 4 KiB with wide vector registers, and 2 KiB more.
 */

/* Between these two, which nest, the calling thread is not preempted by time. They are for code that is not the
 * application's and knows nothing of threads, such as a lock of pthreads'. */
void catapults_preemption_hold(void);
void catapults_preemption_release(void);

/* All code of the object (a shared library) that contains this address counts as the application's own. ENOENT: there
 * is no such object. ENOSPC: too many, some 60. */
int catapults_preemption_register(const void *address);

/* ---- Processors -------------------------------------------------------------------------------------------------- */

/*
 * Sets how many processors take turns (catapults_options.processors), from 1 to 128 or CATAPULTS_PROCESSORS_ALL. If
 * there were never so many, more are started. Those that are too many take no more turns once their threads give up the
 * processor, except turns of threads that are bound to them alone. A policy with nodes is told by `arrival` and
 * `departure`, and the threads of a processor that goes are placed anew. If there are fewer than before and threads are
 * ready, the caller yields. ENOTSUP: the runtime was started with one. EINVAL, EAGAIN, ENOMEM. May run other threads.
 *
 * With CATAPULTS_PROCESSORS_ALL, here or at the start, the number follows the CPUs that the process may use, until
 * another number is asked for here. Any other number stays, whatever CPUs there are. The process may use what its first
 * kernel thread may: this changes with sched_setaffinity for the number of the process (`taskset --pid`), with its
 * cpuset, and when a CPU is unplugged. A processor that attends to the world outside notices it within 20 ms: between
 * turns, at a tick, or when it wakes up. While all sleep, or all compute and nothing waits, nothing is noticed, and
 * nothing is to be decided. All kernel threads are then given the same CPUs.
 */
int catapults_set_processors(int count);
int catapults_processors(void);

/*
 * Bit n of `processors`: the thread may run on processor n, of the first 64; 0: on all. The policy does not know of it,
 * and dispatches the thread on any processor. (A policy with nodes is not asked where to place such a thread: it is
 * placed where it may run.) If that processor may not run it, the turn waits for one that may, which takes it as soon
 * as it needs a thread. So the thread is RUNNING to its policy while it waits, and a timer can end its turn before it
 * has begun; one processor may be asked too much of while others are idle. A caller that may not run where it is moves
 * at once, another thread when it gives up the processor. EINVAL: there is none of these processors, which can come
 * later. ESRCH.
 */
int catapults_setaffinity(catapults_t thread, uint64_t processors);
int catapults_getaffinity(catapults_t thread, uint64_t *processors);

/* ---- Time -------------------------------------------------------------------------------------------------------- */

#define CATAPULTS_FOREVER INT64_MAX

int64_t catapults_now(void);

/*
 * Accounting (1996, §4.4.1), from catapults_account on, or from the start if a policy imports `consumed`: nanoseconds
 * that a thread has had the processor. A thread that lends its turns is charged for them (§4.4.2). A client of a thread
 * that schedules is charged for nothing. The scheduling thread can charge it by its own time, which is virtual: it
 * stands still while threads run that are not its clients. catapults_options.accounting chooses one of two ways:
 *
 * - By time stamps: each event reads CLOCK_MONOTONIC, and each turn is charged for what it took, to the nanosecond.
 *   Each event pays for a look at the clock, and a policy that is compiled in is called through its table. Time in
 *   which the kernel runs other processes counts. For short measurements, for policies that decide by single turns, for
 *   bills.
 *
 * - Statistical: the thread that has a processor when its kernel thread has used another `tick` (catapults_options, 4
 *   ms) of CPU time is charged for all of it. Events cost nothing. The program is interrupted once for each tick that
 *   it runs, at which the kernel stops it anyway, and never while it has nothing to run. Time that the kernel gives to
 *   other processes is nobody's. The sum is right to a tick for each processor. If a thread with short turns was
 *   charged n ticks, about the square root of n are chance: 10% after 0.4 s, 3% after 4 s. A thread that sleeps for a
 *   tick and runs for less than one has turns in step with the kernel's clock, and can stay unseen. A tick that is
 *   shorter than the kernel's own (CONFIG_HZ) is no more exact, and on a busy machine the kernel can be late by some of
 *   its ticks. For long runs with many switches, and policies that compare shares.
 */
void catapults_account(void);
int64_t catapults_consumed(catapults_t thread);
/* 0; EINTR: a handler of catapults_sigaction has run. */
int catapults_sleep_until(int64_t instant);
int catapults_sleep(int64_t nanoseconds);

/* ---- Jobs -------------------------------------------------------------------------------------------------------- */

/*
 * A thread with a period has a job in each. The first is released when the thread is created (catapults_attributes), or
 * when the thread sets its period itself. Every further job is released exactly a period after the one before, however
 * late that was done, so nothing drifts. Waiting in the middle of a job, in whatever call, does not end it.
 *
 * The policy is told of the beginning of each job but the first by its event `release`. Its per-thread import `time
 * release`, if it has one, is when the job was released, so a deadline counts from the release, not from when the
 * thread came to run. While a thread waits for its next job, it is the instant at which that will be released. The
 * import `time period` is the period, unless `values` or an object have another for the thread. The import `time
 * deadline` is the period as well, unless they say something else.
 */

/*
 * Ends the caller's job, and waits until the next one is released: `block.sleep`, then `release` and `event_raised`. If
 * it was released already, it begins at once: `release` alone, at which the policy may take the processor. *missed, if
 * not NULL, is how many releases had passed when the caller came here: 0, if the job was done in its period; 1, if it
 * was done in the next one; n, if n - 1 more jobs are due. Each of those begins at once; none is left out. A
 * cancellation point, at which the next job has not begun. Goes on waiting after handlers of signals. 0; EINVAL: the
 * thread has no period.
 */
int catapults_next_period(int64_t *missed);

/* Sets the caller's period, in nanoseconds. A job begins now, and the policy is told of it, too. 0: the caller has no
 * jobs any more, and the policy's import `release` has its default. EINVAL: below 0. */
int catapults_set_period(int64_t nanoseconds);

/* When the job of the caller was released. 0; EINVAL: the thread has no period. */
int catapults_release(int64_t *instant);

#ifdef __cplusplus
}
#endif
#endif
