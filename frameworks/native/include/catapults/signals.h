/*
 * Catapults: signals, as POSIX has them for threads. Part of catapults.h.
 *
 * Each thread has its own mask, which a new thread inherits from its creator. A signal is directed at a thread
 * (catapults_kill, catapults_sigqueue, a fault of its own), or at the process (kill, a timer of the kernel, a child
 * that ends). A signal for a thread that blocks it stays pending there. A signal for the process goes to the thread
 * that has waited for it longest in catapults_sigwait; else to a running thread, first to the one where the kernel has
 * delivered it; else to the oldest thread that neither blocks it nor is suspended, mostly main. While all threads block
 * it, it stays pending at the process. Standard signals pend once; those from SIGRTMIN on queue with their values. The
 * lowest number is delivered first.
 *
 * Handlers are installed with catapults_sigaction. A handler runs in the context of its thread, on its stack, with its
 * errno:
 *
 * - at once, if the thread runs in the application's own code (see "Preemption" in catapults/threads.h), on any
 *   processor; otherwise as soon as the thread is back there, or enters or leaves a call of this interface that can
 *   wait;
 * - if the thread is ready, when it runs next;
 * - if the thread waits in a call of this interface, it is woken for the handler: see below;
 * - for a fault of its own (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS by the processor): at once, wherever that
 *   was. If the thread blocks the signal, or it has no handler, the program ends.
 *
 * A call that a handler has interrupted:
 *
 * - goes on waiting if all its handlers have SA_RESTART, else returns EINTR (or how much it has transferred, if any):
 *   catapults_read, _write and all others of catapults/io.h, catapults_sem_wait, sending to a port, receiving, and
 *   calling before the message has been received;
 * - returns EINTR in any case: catapults_sleep, catapults_select, catapults_poll, catapults_sigwaitinfo,
 *   catapults_sigtimedwait, catapults_sigsuspend;
 * - goes on waiting in any case, in its place in the queue: for a mutex, a read-write lock, a condition, a barrier,
 *   catapults_once, a reply, the end of a thread, the next job (catapults_next_period), a signal by catapults_sigwait.
 *   A transfer to or from a disk is finished first.
 *
 * A handler that interrupted the application's own code or such a call can be preempted, and may wait, like other code
 * of its thread. It may call what POSIX calls async-signal-safe, catapults_sem_post, all of this header,
 * catapults_self, catapults_yield, catapults_now and catapults_getspecific. Where POSIX allows the system call, it may
 * also call catapults_read, _write and the rest of catapults/io.h, catapults_sleep and catapults_poll. It may leave by
 * catapults_siglongjmp, unless it interrupted a call other than these. In calls of the third kind, what a handler calls
 * cannot cancel the thread.
 *
 * - SIGURG, SIGVTALRM and SIGRTMAX - 2 are the runtime's: they cannot be caught, waited for or sent here, and are left
 *   out of masks. SIGKILL and SIGSTOP are the kernel's.
 * - The runtime has the kernel's handler of each signal that is caught, blocked or waited for here. Do not use
 *   sigaction(2), signal(3), signalfd(2) and sigprocmask(2) for such a signal any more. A handler that the application
 *   had for it goes on as if it had been installed here. If the kernel thread blocks it then, all threads do. For all
 *   other signals these functions work as before, on the kernel thread: for whatever thread runs.
 * - A system call that the application makes itself holds up all threads. It returns EINTR whichever thread a handler
 *   was for, unless the handler has SA_RESTART.
 * - While a handler is installed, or a thread waits for a signal, it is no deadlock if all threads wait.
 * - catapults_fork: the child has the mask of the caller, and no signal pends in it. exec(2) passes on the mask of the
 *   kernel thread; catapults_execve passes on the mask of the caller, and what pends for it.
 * - With several processors, code that a handler has interrupted goes on on the same kernel thread, whatever the
 *   handler does, unless it leaves by catapults_siglongjmp. A signal that kill(2) sends to the process itself may be
 *   handled by a thread on another processor after kill has returned. What raise(3) and catapults_kill send to the
 *   caller is handled before; in a handler that runs on an alternate stack, when that has returned. Queued signals sent
 * from outside by sigqueue(2) may overtake each other if the kernel delivers them to two processors at once, or to two
 * kernel threads of the activations; those of catapults_sigqueue never do. A system call of the application's own is
 * made again after a handler of catapults_kill.
 * - With catapults_options.activations a handler runs on the stack of its thread, but on another kernel thread than the
 *   code that it has interrupted. That code waits, and goes on on its own kernel thread. A thread that is blocked in a
 *   system call of its own gets its signals when that has returned. If a handler ends its thread in a program with C++,
 *   destructors of the frames that it has interrupted do not run.
 */
#ifndef CATAPULTS_SIGNALS_H
#define CATAPULTS_SIGNALS_H

#include <setjmp.h>
#include <signal.h>

#include "catapults/threads.h"

/* In strict ISO C (-std=c17 alone) <signal.h> declares nothing of POSIX, and so neither does this header: define
 * _GNU_SOURCE or _POSIX_C_SOURCE for it. */
#ifdef SA_SIGINFO

#ifdef __cplusplus
extern "C" {
#endif

/* As sigaction(2): -1 and errno. EINVAL: no such signal, or one of the runtime's. SA_ONSTACK counts for faults only.
 * That stack is the kernel thread's (sigaltstack(2); the runtime has set up one of 16 KiB), so that the overflow of a
 * thread's stack can be handled; the handler must not wait there. The third argument of a handler with SA_SIGINFO is
 * NULL except for faults. */
int catapults_sigaction(int signal, const struct sigaction *action, struct sigaction *before);

/* As pthread_sigmask: 0, or EINVAL. Pending signals that it unblocks have been delivered when it returns. */
int catapults_sigmask(int how, const sigset_t *set, sigset_t *before);

/* As pthread_kill and pthread_sigqueue: 0, EINVAL, ESRCH (it has ended), EAGAIN (too many are queued, or no memory).
 * `signal` 0 only checks. */
int catapults_kill(catapults_t thread, int signal);
int catapults_sigqueue(catapults_t thread, int signal, union sigval value);

/* What pends for the caller or for the process: -1 and errno. */
int catapults_sigpending(sigset_t *set);

/* Wait until a signal of the set pends for the caller or for the process, and take it. The caller should block the set.
 * Cancellation points; the policy is told block.signal. The first returns 0 or EINVAL; the others the number of the
 * signal, or -1 and errno: EINTR, EINVAL; EAGAIN: the instant came first. `info` may be NULL. */
int catapults_sigwait(const sigset_t *set, int *signal);
int catapults_sigwaitinfo(const sigset_t *set, siginfo_t *info);
int catapults_sigtimedwait(const sigset_t *set, siginfo_t *info, int64_t instant);

/* Waits with this mask until a handler has run; then restores the mask. -1, and errno is EINTR. A cancellation
 * point. */
int catapults_sigsuspend(const sigset_t *mask);

/* As execve(2), with the signals of the caller: -1 and errno. */
int catapults_execve(const char *path, char *const arguments[], char *const environment[]);

/* As sigsetjmp and siglongjmp, which know nothing of the mask of a thread. */
typedef struct {
    sigjmp_buf registers;
    uint64_t mask;
    uint32_t held;
    int saves;
    struct processor *kept_on;
    struct stopped *stopped;
} catapults_sigjmp_buf[1];
#define catapults_sigsetjmp(buffer, save_mask)                                                                         \
    (catapults_sigjmp_begin((buffer), (save_mask)), sigsetjmp((buffer)->registers, 0))
void catapults_sigjmp_begin(catapults_sigjmp_buf buffer, int save_mask);
__attribute__((noreturn)) void catapults_siglongjmp(catapults_sigjmp_buf buffer, int value);

#ifdef __cplusplus
}
#endif
#endif
#endif
