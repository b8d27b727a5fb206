/*
 * Preemption: interrupts a processor, and says whether the interrupted code may be left where it stands.
 *
 *   signal.c        the handler: looks where the program counter is
 *   kernel_timer.c  what interrupts a kernel thread at an instant
 *   arrivals.c      signals that are caught for others: kept until they are asked for
 *
 * The kernel's signal frame, on the stack of the interrupted thread, keeps all of its registers, vectors included. The
 * handler calls back from there, and what it calls may switch to another context. A section of the runtime that must
 * not be interrupted pays nothing for that: it is known by where its code is (2002, §6, at its end).
 */
#ifndef CATAPULTS_PREEMPTION_H
#define CATAPULTS_PREEMPTION_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

/* Debuggers let it pass, and a program that gets one too many ignores it. Beneath programs that know nothing of it, one
 * that nobody uses. */
#ifdef CATAPULTS_BENEATH
#define PREEMPTION_SIGNAL SIGSTKFLT
#else
#define PREEMPTION_SIGNAL SIGURG
#endif

enum preemption_where {
    PREEMPTION_ELSEWHERE, /* in the runtime, in libc, in a handler of another signal: it must not be left now */
    PREEMPTION_CALL, /* in a system call of somebody else's that waits, has been interrupted, or is to be made again:
                        for handlers of signals, which come before its result */
    PREEMPTION_APPLICATION /* in code that may be left: what is called back may switch to another context */
};

/* Called in the handler; may change errno. If it switches (or leaves the handler by siglongjmp), it returns when a
 * thread switches back, perhaps on another kernel thread. True: call again shortly. */
typedef bool preemption_interrupted(enum preemption_where where);

/* Whether the code at this instruction may be left there while others run: the layer that has threads knows. Called in
 * handlers, wherever the program is. No code of the runtime may be. */
typedef bool preemption_may_be_left(uintptr_t instruction);

/* Called before the rest; again, for other functions. Returns 0 or an error number. */
int preemption_start(preemption_interrupted *interrupted, preemption_may_be_left *may_be_left);

/* For what else sends PREEMPTION_SIGNAL, and wants nothing but a look: called first in the handler, wherever the
 * program is. Whether it was that. */
typedef bool preemption_sent(const siginfo_t *info);
void preemption_other(preemption_sent *sent);

/* Whether a signal like the layer's, which the runtime has not sent, is for the runtime all the same. Called in the
 * handler, on any kernel thread of the process, wherever it is; nothing else is done then. */
typedef bool preemption_from_outside(const siginfo_t *info);
void preemption_listen(preemption_from_outside *listener);

/* Interrupts the kernel thread that was attached first, or the first of the process. From any kernel thread. */
void preemption_interrupt_first(void);

/* The calling kernel thread can be interrupted from now on. Its signal mask is that of all threads that it runs: a
 * thread that blocks more signals is not left. Returns 0 or an error number. */
int preemption_attach(void);

/* Interrupts the calling kernel thread at an instant of CLOCK_MONOTONIC, in nanoseconds, instead of at the one asked
 * for before. */
void preemption_arm(int64_t instant);

/* Whether the instant last asked for has come, or none ever was: an interruption may have had other reasons. The second
 * asks for it again. */
bool preemption_is_due(void);
void preemption_rearm(void);

/* As sigaction, for a signal that must come at any instruction, so that tools that look on must not put it off.
 * `flags`: besides SA_SIGINFO; `mask`: what is blocked meanwhile. Returns 0 or an error number. */
int preemption_install(int signal, void (*handler)(int, siginfo_t *, void *), unsigned long flags, uint64_t mask);

/* Where the code is that a signal has interrupted. */
enum preemption_where preemption_where(const ucontext_t *context);

/* Whether it is in a handler of another signal, which may have interrupted anything: its stack, or the signals that it
 * blocks, reveal that. */
bool preemption_in_handler(const ucontext_t *context);

/* Called at the end of a handler that has called back from somewhere else than PREEMPTION_ELSEWHERE: other threads may
 * have run since. From then on all signals are blocked: a handler that came now could unblock some that were postponed,
 * and the interrupted code would go on to block them, without a word of it in `postponed`. It would be taken for a
 * handler then, and never be left. The same holds for the next. */
void preemption_settle(ucontext_t *context);

/* Called at the end of a handler that has come to PREEMPTION_ELSEWHERE, or for a fault. `postponed`: what
 * preemption_postponed said before anything was called back. If there is room again, the interrupted code no longer
 * blocks that. */
void preemption_settle_elsewhere(ucontext_t *context, uint64_t postponed);

/* Interrupts again shortly; for a handler that could do nothing where it came. */
void preemption_look_again(const ucontext_t *context);

/* The calling kernel thread no longer blocks these signals. */
void preemption_unblock(uint64_t signals);

/* Nor does any other that can be interrupted, once it has been interrupted. */
void preemption_unblock_all(uint64_t signals);

/* For a handler on a kernel thread that cannot be interrupted: interrupts one that can, where something is to be
 * attended to. False: the caller can be, or none can be, or none now. */
bool preemption_pass_on(void);

/* For its handler: the interrupted code goes on with these signals blocked as well, until they are unblocked. */
void preemption_postpone(uint64_t signals, ucontext_t *context);

/* Those that the calling kernel thread blocks for that now. */
uint64_t preemption_postponed(void);

/* ---- Signals that are caught for others -------------------------------------------------------------------------- */

/* All are called in the handler, wherever the program is, and may change errno. */
struct preemption_catcher {
    void (*arrived)(void); /* there is a signal to be asked for */
    /* Called after `arrived`, if the interrupted code must not be left; returns as the next. */
    bool (*postponed)(void);
    /* Called after `arrived`, if the interrupted code is the application's own or, with `held`, a system call of its
     * own that waits or has sent the signal, and that must not be left. The mask of the kernel thread is as it was in
     * that code; the handler may be left by siglongjmp. True: call again shortly. */
    bool (*interrupted)(bool held);
    /* The interrupted code has caused the signal; the same holds. */
    void (*fault)(siginfo_t *info, void *context, bool held);
};

/* Called once, before the rest. */
void preemption_catch_start(const struct preemption_catcher *catcher);

/* Catches a signal. `flags`: SA_RESTART, SA_ONSTACK, SA_NOCLDSTOP, SA_NOCLDWAIT. Returns 0 or an error number. */
int preemption_catch(int signal, unsigned long flags);

/* Keeps a signal that was caught otherwise; false: there is no room. */
bool preemption_keep(const siginfo_t *info);

/* Whether the code that the signal has interrupted is the application's call that sent it. */
bool preemption_has_sent(const siginfo_t *info, const ucontext_t *context);

/* The next signal that has arrived; false: there is none. Those that find no room here wait in the kernel. */
bool preemption_arrival(siginfo_t *info);

/* In a child of fork: none has arrived. */
void preemption_arrivals_restart(void);

/* For signal.c: whether signals that find no room wait. */
bool preemption_arrivals_shut(void);

/* Whether the interrupted code has caused the signal. */
bool preemption_is_fault(const siginfo_t *info);

#endif
