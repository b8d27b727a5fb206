/*
 * Catapults: threads, from their beginning to their end, and the clock. Part of catapults.h.
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
    struct catapults_scheduler *scheduler; /* that it is under (schedulers.h); NULL: the default of the hierarchy, else
                                              the root */
    struct catapults_port *scheduled_by; /* it is under no policy, but scheduled by who receives at that port (ports.h);
                                            `scheduler` and `values` are not used then */
    uint64_t processors;                 /* that it may run on: see catapults_setaffinity; 0: all */
    const struct catapults_value *values; /* of the policy's per-thread imports: see catapults/imports.h */
    size_t values_count;
    int64_t period; /* nanoseconds from one job to the next: see catapults_next_period; 0: it has no jobs */
};

/* Creates a thread. It shares the floating-point environment (fenv.h) with all others: whoever sets a rounding mode
 * sets it for the process. EAGAIN: no memory, or the policy refused it (catapults_refusal says why). EINVAL: of
 * `values` or `processors`, or `period` is below 0. EPERM: there was no catapults_init. `attributes` and `thread` may
 * be NULL. */
int catapults_create(catapults_t *thread, const struct catapults_attributes *attributes, void *(*start)(void *),
                     void *argument);
const char *catapults_refusal(void); /* the `fail` of the caller's last refused request, or NULL */

/* EDEADLK, EINVAL (detached, or joined by another). `result` may be NULL. */
int catapults_join(catapults_t thread, void **result);
int catapults_join_until(catapults_t thread, void **result, int64_t instant); /* ETIMEDOUT: it can be joined still */
int catapults_tryjoin(catapults_t thread, void **result);                     /* EBUSY: it has not ended */
/* The same, and the caller lends its turns to the thread until that ends (1996, §3.4), as it does not otherwise: whom
 * one joins would have two turns where others have one. */
int catapults_join_donating(catapults_t thread, void **result);

/* Puts a thread under one more policy (1996, §4.5): creates a thread, with these attributes (`scheduler` says which
 * policy, its stack can be the smallest; NULL: as of catapults_create), that lends all its turns to `thread` until that
 * ends, and ends then. Several may stand in for one thread. ESRCH: it has ended; or as catapults_create. */
int catapults_stand_in(catapults_t thread, const struct catapults_attributes *attributes);

int catapults_detach(catapults_t thread);
__attribute__((noreturn)) void catapults_exit(void *result); /* see catapults/cancel.h */
catapults_t catapults_self(void);
const char *catapults_name(catapults_t thread);

/*
 * As fork(2). In the child the caller is the only thread: the stacks of the others are given back, what they hold stays
 * locked (but for robust mutexes, of which the next to lock is told that the owner has ended), what they waited for
 * nobody waits for (whose call through a port was received has given up), and no handler or destructor of theirs runs.
 * The policies begin anew, with this thread as their first, so what they have noted of it is lost; variables stay
 * linked, and what was set by catapults_set_values and catapults_scheduler_set_values stays so. Nothing is under way
 * for descriptors there, and nothing is recorded. If the child cannot go on, it says why and ends with EXIT_FAILURE.
 * pthread_atfork is for what the application has to do. A child of fork(2) itself can only call exec or _exit.
 */
pid_t catapults_fork(void);

void catapults_yield(void);
int catapults_yield_to(catapults_t thread); /* asks for `thread` next; EAGAIN: it cannot run, plain yield instead */

/* Whoever is suspended while it waits goes on waiting, and is suspended when that is over. In the meantime it holds up
 * nobody who waits, too: a mutex or a read-write lock that it could have is left to others, and it looks for it again
 * when it is resumed; what is given away once (the post of a semaphore, a signal to a condition, a message) is given to
 * those first that are not suspended, and to it if there is nobody else. POSIX has no such call; GNU Pth has it so.
 * ESRCH. A thread may suspend itself. */
int catapults_suspend(catapults_t thread);
int catapults_resume(catapults_t thread); /* EINVAL: it is not suspended */

/* ---- Preemption ---------------------------------------------------------------------------------------------------
 */

/*
 * While a thread runs and others are ready, the processor is interrupted at the instants of the policy's timers, so
 * that `timeout.NAME` can take it from the thread, and every `tick` (catapults_options) if the policy handles that
 * event; also when a thread that sleeps, or waits with a time-out, is to wake, or up to 50 microseconds later, and
 * every `tick` while threads wait for descriptors, so that a thread that computes does not keep those from becoming
 * ready. In no other case.
 *
 * A thread is left only in the application's own code: the executable's. What it calls in libc or in other libraries is
 * finished first, as is what it calls here. A program that is linked statically is not preempted: its libc could not be
 * told from its own code.
 *
 * - The signal is SIGURG; what else sends it goes to the handler that the application had when it called
 *   catapults_init. An application that blocks it, or any other signal after catapults_init, is not preempted
 *   meanwhile, nor are its handlers of signals: they are known by the signals that they block or by the stack that they
 *   run on, so a handler with SA_NODEFER needs SA_ONSTACK, too, or a sa_mask.
 * - System calls are restarted (SA_RESTART), but for those that never are, such as poll, select, epoll_wait, nanosleep,
 *   and sockets with a time-out (signal(7)): made by the application itself, they stop all threads anyway, and return
 *   EINTR. The calls of catapults.h never do for that; for handlers of the application see catapults/signals.h.
 * - A stack needs room for a frame of the kernel, up to 4 KiB with wide vector registers, and 2 KiB more.
 */

/* Between these two, which nest, the calling thread is not preempted by time: for code that is not the application's
 * and knows nothing of threads, such as a lock of pthreads'. */
void catapults_preemption_hold(void);
void catapults_preemption_release(void);

/* All code of the object (a shared library) that this address is in counts as the application's own. ENOENT: there is
 * no such object. ENOSPC: too many, some 60. */
int catapults_preemption_register(const void *address);

/* ---- Processors ---------------------------------------------------------------------------------------------------
 */

/*
 * How many processors take turns (catapults_options.processors), from 1 to 128 or CATAPULTS_PROCESSORS_ALL. More than
 * ever are started; those that are too many take no more turns once their threads give up the processor, but of threads
 * that are bound to them alone. A policy with nodes is told of it by `arrival` and `departure`, and threads are placed
 * anew whose processor goes. If there are fewer than before and threads are ready, the caller yields. ENOTSUP: the
 * runtime was started with one. EINVAL, EAGAIN, ENOMEM. May run other threads.
 *
 * CATAPULTS_PROCESSORS_ALL, here or when the runtime is started, lets the number follow the CPUs that the process may
 * use, until another one is asked for here; a number stays what it is, whatever CPUs there are. What the process may
 * use is what its first kernel thread may: it changes with sched_setaffinity for the number of the process (`taskset
 * --pid`), with its cpuset, and when a CPU is unplugged. It is noticed within 20 ms by a processor that attends to the
 * world outside: between turns, at a tick, or when it wakes up; while all sleep, or all compute and nothing waits,
 * nothing is noticed, and nothing is to be decided. All kernel threads are then given the same CPUs.
 */
int catapults_set_processors(int count);
int catapults_processors(void);

/*
 * Bit n of `processors`: the thread may run on processor n, of the first 64; 0: on all. The policy knows nothing of it
 * (one with nodes is not asked where such a thread is to be, which is at a processor where it may run): it dispatches
 * the thread on any processor, and if that may not run it, the turn waits for one that may, which takes it as soon as
 * it needs a thread. So such a thread is RUNNING to its policy while it waits, and its turn can end by a timer before
 * it has begun; one processor may be asked too much of while others are idle. A caller that may not run where it is
 * moves at once, another thread when it gives up the processor. EINVAL: there is none of these processors, which can
 * come later. ESRCH.
 */
int catapults_setaffinity(catapults_t thread, uint64_t processors);
int catapults_getaffinity(catapults_t thread, uint64_t *processors);

/* ---- Time -------------------------------------------------------------------------------------------------------- */

#define CATAPULTS_FOREVER INT64_MAX

int64_t catapults_now(void);

/*
 * Accounting (1996, §4.4.1), from catapults_account on, or from the start if a policy imports `consumed`: nanoseconds
 * that a thread has had the processor. A thread that lends its turns is charged for them (§4.4.2); a client of a thread
 * that schedules is charged for nothing, and that thread can charge it by its own time, which is virtual: it stands
 * still while threads run that are not its clients. There are two ways, of which catapults_options.accounting chooses:
 *
 * - By time stamps: CLOCK_MONOTONIC is read at each event, and each turn is charged for what it took, to the
 *   nanosecond. That costs each event a look at the clock, and a policy that is compiled in is called through its
 *   table. The time in which the kernel runs other processes counts. For short measurements, for policies that decide
 *   by single turns, for bills.
 *
 * - Statistical: whoever has a processor when its kernel thread has used another `tick` (catapults_options, 4 ms) of
 *   CPU time is charged for all of that. No event costs anything; the program is interrupted once for each tick that
 *   it runs, at which the kernel stops it anyway, and never while it has nothing to run. What the kernel gives to
 *   other processes is nobody's. The sum is right to a tick for each processor; of a thread that was charged n ticks,
 *   in turns that are short, some square root of n are chance: 10% after 0.4 s, 3% after 4 s. A thread whose turns
 *   begin and end with the kernel's clock, by sleeping for a tick and running for less than one, can stay unseen. A
 *   tick that is shorter than the kernel's own (CONFIG_HZ) is no more exact, and on a busy machine the kernel can be
 *   late by some of its ticks. For long runs with many switches, and policies that compare shares.
 */
void catapults_account(void);
int64_t catapults_consumed(catapults_t thread);
/* 0; EINTR: a handler of catapults_sigaction has run. */
int catapults_sleep_until(int64_t instant);
int catapults_sleep(int64_t nanoseconds);

/* ---- Jobs -------------------------------------------------------------------------------------------------------- */

/*
 * A thread with a period has a job in each. The first is released when the thread is created (catapults_attributes), or
 * when it says its period itself; each other one exactly a period after the one before, however late that was done, so
 * that nothing drifts. What the thread waits for in the middle of a job, by whatever call, ends no job.
 *
 * The policy hears of the beginning of each job but the first by its event `release`, and finds when the job was
 * released in its per-thread import `time release`, if it has such: so a deadline is counted from the release, not from
 * when the thread came to run. While a thread waits for its next job that is the instant at which it will be released.
 * It is told the period in its import `time period`, unless `values` or an object have another for the thread.
 */

/*
 * Ends the job of the caller, and waits until the next one is released: `block.sleep`, then `release` and
 * `event_raised`. If that has been already, the next one begins at once: `release` alone, by which the policy may take
 * the processor. *missed, if not NULL, is how many releases lay in the past when the caller came here: 0, if the job
 * was done in its period; 1, if it was done in the next one; n, if n - 1 more jobs are due that each begin at once,
 * none is left out. It is a cancellation point, then the next job has not begun, and goes on waiting after handlers of
 * signals. 0; EINVAL: the thread has no period.
 */
int catapults_next_period(int64_t *missed);

/* The caller has this period from now on, in nanoseconds; a job of it begins now, of which the policy hears, too. 0: it
 * has no jobs any more, and the policy's import `release` its default. EINVAL: below 0. */
int catapults_set_period(int64_t nanoseconds);

/* When the job of the caller was released. 0; EINVAL: the thread has no period. */
int catapults_release(int64_t *instant);

#ifdef __cplusplus
}
#endif
#endif
