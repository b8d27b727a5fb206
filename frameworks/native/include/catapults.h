/*
 * Catapults: user-level threads whose order is a policy.
 *
 * Every call is made by a Catapults thread (catapults_init makes the caller the first one) unless it says otherwise.
 * Names and meanings follow POSIX threads. Calls return 0 or an error number; those that wrap a system call return what
 * it returns, and set errno.
 *
 * A thread can be preempted at any instruction of the application's own code, if the policy is one that limits turns:
 * what threads share needs locks. A program that knows of its threads that they run undisturbed between two calls into
 * this header says so: catapults_options.cooperative.
 *
 * Instants are nanoseconds of CLOCK_MONOTONIC; see catapults_now().
 */
#ifndef CATAPULTS_H
#define CATAPULTS_H

#include "catapults/cancel.h"
#include "catapults/imports.h"
#include "catapults/io.h"
#include "catapults/locks.h"
#include "catapults/schedulers.h"
#include "catapults/ports.h"
#include "catapults/select.h"
#include "catapults/signals.h"
#include "catapults/threads.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Starting ---------------------------------------------------------------------------------------------------- */

#define CATAPULTS_PROCESSORS_ALL (-1)

/* How catapults_account counts: see catapults/threads.h. */
enum catapults_accounting {
    CATAPULTS_ACCOUNTING_DEFAULT, /* $CATAPULTS_ACCOUNTING, "time-stamps" or "statistical", else the first of these */
    CATAPULTS_ACCOUNTING_TIME_STAMPS,
    CATAPULTS_ACCOUNTING_STATISTICAL
};

struct catapults_options {
    const char *policy;  /* a shared object with a policy, or with a hierarchy (schedulers.h); NULL: $CATAPULTS_POLICY,
                            else the policy compiled in, else the built-in FIFO */
    bool strict_imports; /* registering a variable that the policy does not import ends the program (2005, §5.2) */
    const char *io;      /* "io_uring" or "epoll"; NULL: $CATAPULTS_IO, else io_uring where the kernel allows it */
    const char *trace;   /* where to record who ran when; NULL: $CATAPULTS_TRACE, else nowhere */
    size_t stack_size;   /* bytes of a thread's stack; 0: 64 KiB. Rounded up to a power of two, at least 16 KiB */
    bool cooperative;    /* no preemption by time: a thread that neither blocks nor yields keeps the processor */
    int processors;      /* kernel threads that run threads at the same time; CATAPULTS_PROCESSORS_ALL: as many as the
                            process may use CPUs; 0: $CATAPULTS_PROCESSORS, a number or "all", else 1. See below */
    bool activations;    /* a thread that blocks in the kernel, by whatever call or page fault, leaves the processor to
                            the others; also $CATAPULTS_ACTIVATIONS=1. See below */
    /* A handler of the policy that has run for longer, in CPU time, is left, and its policy is out: nanoseconds; 0:
     * $CATAPULTS_HANDLER_LIMIT, in milliseconds, else a second. Handlers without loops and verbatim text end by
     * themselves and are not watched. */
    int64_t handler_limit;
    /* A policy that lets a ready thread wait for longer is out: nanoseconds; 0: $CATAPULTS_STARVATION_LIMIT, in
     * milliseconds, else none. It is noticed after one to two limits; only what other threads were given counts, not
     * what one of them has kept. */
    int64_t starvation_limit;
    uint64_t seed; /* of what policies draw (`random` of the language); 0: $CATAPULTS_RANDOM_SEED, a number, else 1 */
    int64_t tick;  /* nanoseconds; 0: 4 ms. See "Preemption" and "Accounting" in catapults/threads.h */
    enum catapults_accounting accounting;
    bool own_thread_locals; /* thread_local variables of the program are each thread's own; also
                               $CATAPULTS_THREAD_LOCAL=own. See below */
};

/*
 * thread_local (__thread) variables are the kernel thread's, and so, on one processor, the same for all threads: what
 * one thread stores there the next one finds. Each thread's own are errno, and what C++ knows of exceptions; and keys
 * (catapults/threads.h). What libc and other libraries keep for the calling thread is the same for all, too:
 *
 * - uselocale, dlerror, h_errno, and the buffers of functions such as strerror.
 * - flockfile and the locks of pthreads keep other kernel threads out, but no other thread on the same one: while
 *   others may run, only catapults_mutex_lock does.
 * - malloc, and all else that returns before another thread runs, is safe.
 *
 * With `own_thread_locals` the variables of the executable are each thread's own, too: a new thread has the values that
 * the program begins with, and objects of C++ end with their thread. Values are exchanged at each switch, and addresses
 * stay: a pointer to such a variable is for the thread that has made it, and where there are several processors, until
 * its next call that can block or yield. The price is paid by every switch, where there are such variables: one of 6 ns
 * takes 12 with 8 bytes, 18 with 128, 22 with 512, 45 with 2,048. The variables of shared libraries stay the kernel
 * thread's, libc's among them. EINVAL: with `activations`, and in a program that is linked statically.
 */

/*
 * With `activations` the runtime is a thread library on sa.h: a thread that blocks in the kernel raises block.kernel,
 * the others go on, and event_raised says that it is back. With several `processors`, at most 64, all of them are
 * left so. Then, until a later version:
 *
 * - A thread is preempted by time wherever it is but in the runtime, in libc, too: it goes on on its kernel thread.
 *   Who needs a lock that it has there blocks in the kernel, and leaves the processor. One that comes back from the
 *   kernel may take the processor from another, if the policy says so.
 * - The driver is epoll; asking for io_uring is EINVAL. What a disk has to be waited for (catapults_read of a file,
 *   catapults_sendfile_until, a page of a mapped file) holds the processor no more.
 * - Threads run on several kernel threads, for each processor on one at a time. thread_local variables,
 *   pthread_self and what pthreads keeps for it are the kernel thread's: they stay between two calls of this
 *   header, and may be others after one that blocked or yielded. errno and C++ exceptions are the thread's own; but
 *   compilers keep the address of errno within a function: one that uses it before such a call and after it asks
 *   for it in a function of its own (noipa).
 * - dlopen, pthread_create and fork(2), called by threads of the application while others compute, can hold up the
 *   program for good: a thread that is preempted in one has locks that making kernel threads takes. They are to be
 *   called before catapults_init, or while no other thread computes; catapults_fork at any time.
 * - At most 512 threads are blocked in the kernel at a time; the next one holds the processor.
 * - A child of catapults_fork goes on without activations. fork(2) waits for the locks of libc's allocator: so
 *   threads that have been left in the middle of libc go on first, on the caller's turns, and those that have been in
 *   the kernel for less than 20 ms; the call takes at most 200 ms more by that. EAGAIN: one is in the middle of libc
 *   even then. A thread that is blocked in the middle of malloc for longer, for a page that a slow disk has, makes it
 *   wait for ever. Threads that were preempted in the application's own code are not waited for.
 */

/*
 * With several `processors` threads run at the same time: what they share needs locks, whatever the policy. All
 * processors have one instance of the policy, which sees the threads that run on the one whose event it is told of, and
 * no others that run; catapults_threads_total counts all. The kernel threads begin with the signal mask of the caller.
 * A policy with nodes has an instance for each processor instead, which says where threads are to be, and who gives
 * some away; catapults_threads_ready and its like answer for all of them, and catapults_yield_to a thread of another
 * processor is EAGAIN.
 *
 * - thread_local variables, pthread_self and what pthreads keeps for it are the kernel thread's: a thread may go on on
 *   another one after each call of this header that can block or yield, so they are to be used between two such calls
 *   only. errno and C++ exceptions are the thread's own; but compilers keep the address of errno within a function: one
 *   that uses it before such a call and after it asks for it in a function of its own (noipa).
 * - Variables that a policy imports are read at any time: they are to be changed by atomic stores.
 * - catapults_suspend does not wait until the thread has stopped: it does so in its next call, or when it is
 *   interrupted.
 * - A thread that is preempted by time goes on on the same kernel thread.
 * - Who waits lends its turns (1996, §3.4) to a thread that no processor runs; while one does, it is blocked.
 * - A child of catapults_fork has one processor.
 */

/* Starts the runtime with the caller as its first thread, for good: the function that the caller's kernel thread began
 * with is not to return, unless that is main. Functions that need it end the program if they are called before, with a
 * message. `options` may be NULL. On failure the reason is on standard error, and the result is EINVAL (the policy or
 * an option cannot be used), ENOMEM, EALREADY, or what the system said. */
int catapults_init(const struct catapults_options *options);

/* ---- What the policy that the caller is under answers, all its instances together --------------------------------
 *
 * Of several processors: as suspended count also threads, if more than about 60 that the policy has dispatched have to
 * wait for the processors that they are bound to, or stand on; traces show them so, too.
 */

int64_t catapults_threads_ready(void), catapults_threads_suspended(void), catapults_threads_total(void);
const char *catapults_policy_name(void); /* the policy in force; "fifo (built-in)" after a policy had to go */

#ifdef __cplusplus
}
#endif
#endif
