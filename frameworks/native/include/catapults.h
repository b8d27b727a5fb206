/*
 * Catapults: user-level threads that a policy schedules.
 *
 * Only Catapults threads make calls, unless a call says otherwise. catapults_init makes its caller the first thread.
 * Names and meanings follow POSIX threads. Calls return 0 or an error number. A call that wraps a system call returns
 * what the system call returns, and sets errno.
 *
 * If the policy limits turns, a thread can be preempted at any instruction of the application's own code, so shared
 * data needs locks. A program whose threads run undisturbed between two calls into this header sets
 * catapults_options.cooperative.
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
    bool activations;    /* a thread that blocks in the kernel, in any call or page fault, leaves the processor to the
                            others; also $CATAPULTS_ACTIVATIONS=1. See below */
    /* CPU time that a handler of the policy may use, in nanoseconds. A handler that uses more is left, and its policy
     * is out. 0: $CATAPULTS_HANDLER_LIMIT, in milliseconds, else a second. Handlers without loops and verbatim text end
     * by themselves and are not watched. */
    int64_t handler_limit;
    /* How long a policy may let a ready thread wait, in nanoseconds. A policy that exceeds it is out. 0:
     * $CATAPULTS_STARVATION_LIMIT, in milliseconds, else none. Starvation is noticed after one to two limits. Only
     * turns that other threads were given count, not the time for which one of them kept the processor. */
    int64_t starvation_limit;
    uint64_t seed; /* seed of the policies' `random`; 0: $CATAPULTS_RANDOM_SEED, a number, else 1 */
    int64_t tick;  /* nanoseconds; 0: 4 ms. See "Preemption" and "Accounting" in catapults/threads.h */
    enum catapults_accounting accounting;
    bool own_thread_locals; /* each thread has its own thread_local variables of the program; also
                               $CATAPULTS_THREAD_LOCAL=own. See below */
};

/*
 * thread_local (__thread) variables belong to the kernel thread. On one processor all threads share them: a thread
 * finds what another thread stored there. Each thread has its own errno, its own state of C++ exceptions, and its own
 * keys (catapults/cancel.h). All threads also share what libc and other libraries keep for the calling thread:
 *
 * - uselocale, dlerror, h_errno, and the buffers of functions such as strerror.
 * - flockfile and the locks of pthreads exclude other kernel threads, but no other thread on the same one. Where other
 *   threads may run in between, use catapults_mutex_lock.
 * - malloc, and every other function that returns before another thread runs, is safe.
 *
 * With `own_thread_locals` each thread also has its own variables of the executable. A new thread has the program's
 * initial values, and C++ objects end with their thread. A switch exchanges the values; the addresses stay. So a
 * pointer to such a variable is only for the thread that made it. With several processors it is valid only until that
 * thread's next call that can block or yield. If there are such variables, every switch pays for them: a switch of 6 ns
 * takes 12 ns with 8 bytes, 18 with 128, 22 with 512, 45 with 2,048. The variables of shared libraries, libc's among
 * them, still belong to the kernel thread. EINVAL: with `activations`, and in a program that is linked statically.
 */

/*
 * With `activations` the runtime is a thread library on sa.h. A thread that blocks in the kernel raises block.kernel,
 * the others go on, and event_raised reports its return. This holds on every processor if there are several
 * `processors`, at most 64. Until a later version:
 *
 * - A thread can be preempted by time everywhere but in the runtime, so also in libc. It goes on on its kernel thread.
 *   Another thread that needs a lock which it holds there blocks in the kernel, and leaves the processor. A thread that
 *   comes back from the kernel may take the processor from another, if the policy says so.
 * - The driver is epoll; asking for io_uring is EINVAL. Waiting for a disk (catapults_read of a file,
 *   catapults_sendfile_until, a page of a mapped file) no longer holds the processor.
 * - Threads run on several kernel threads, of which each processor runs one at a time. What this means for thread_local
 *   variables, pthread_self and errno is said below, of several `processors`.
 * - dlopen, pthread_create and fork(2) can hold up the program for good if threads of the application call them while
 *   others compute: a thread that is preempted in one of them has locks that making kernel threads takes. Call them
 *   before catapults_init, or while no other thread computes. catapults_fork may be called at any time.
 * - At most 512 threads are blocked in the kernel at a time; the next one holds the processor.
 * - A child of catapults_fork goes on without activations. fork(2) waits for the locks of libc's allocator. So threads
 *   that were left in the middle of libc go on first, on the caller's turns, and so do those that have been in the
 *   kernel for less than 20 ms. This takes at most 200 ms. EAGAIN: a thread is in the middle of libc even then. A
 *   thread that stays blocked in the middle of malloc for longer, say for a page on a slow disk, makes the call wait
 *   for ever. The call does not wait for threads that were preempted in the application's own code.
 */

/*
 * With several `processors` threads run at the same time, so shared data needs locks under any policy. All processors
 * have one instance of the policy. Of the running threads it sees only those of the processor whose event it handles;
 * catapults_threads_total counts all. The kernel threads begin with the signal mask of the caller. A policy with nodes
 * has an instance for each processor instead. It says where threads are placed and which processor gives some away.
 * catapults_threads_ready and its like then answer for all instances, and catapults_yield_to returns EAGAIN for a
 * thread of another processor.
 *
 * - thread_local variables, pthread_self and what pthreads keeps for it belong to the kernel thread. After each call of
 *   this header that can block or yield, a thread may go on on another one, so use them only between two such calls.
 *   Each thread has its own errno and C++ exceptions. But compilers keep the address of errno within a function: a
 *   function that uses errno before such a call and after it must access it in a function of its own (noipa).
 * - The policy may read imported variables at any time: change them by atomic stores.
 * - catapults_suspend does not wait until the thread has stopped. The thread stops in its next call, or when it is
 *   interrupted.
 * - A thread that is preempted by time goes on on the same kernel thread.
 * - A thread that waits lends its turns (1996, §3.4) to a thread that no processor runs. While a processor runs that
 *   thread, the waiting thread is blocked.
 * - A child of catapults_fork has one processor.
 */

/* Starts the runtime for good, with the caller as its first thread. The function in which the caller's kernel thread
 * began must not return, unless it is main. Functions that need the runtime end the program with a message if they are
 * called before. `options` may be NULL. On failure the reason is on standard error, and the result is EINVAL (the
 * policy or an option cannot be used), ENOMEM, EALREADY, or what the system said. */
int catapults_init(const struct catapults_options *options);

/* ---- What the caller's policy answers, all its instances together --------------------------------------------------
 *
 * With several processors, the suspended include the threads that are postponed: when more than about 60 dispatched
 * threads wait for the processors that they are bound to or stand on, the rest are. Traces show them so, too.
 */

int64_t catapults_threads_ready(void), catapults_threads_suspended(void), catapults_threads_total(void);
const char *catapults_policy_name(void); /* the policy in force; "fifo (built-in)" after the policy is out */

#ifdef __cplusplus
}
#endif
#endif
