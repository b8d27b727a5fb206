/*
 * Preemption: interrupts a processor, and says whether the code that was interrupted may be left where it stands.
 *
 *   signal.c   the handler: looks where the program counter is
 *   kernel_timer.c  what interrupts a kernel thread at an instant
 *   arrivals.c signals that are caught for others: kept until they are asked for
 *
 * The kernel's signal frame, on the stack of the interrupted thread, keeps all of its registers, vectors included; the
 * handler calls back from there, and whoever is called back may switch to another context. A section of the runtime
 * that must not be interrupted pays nothing for that: it is known by where its code is (2002, §6, at its end).
 */
#ifndef CATAPULTS_PREEMPTION_H
#define CATAPULTS_PREEMPTION_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

/* Debuggers let it pass, and who gets one too many ignores it. */
#define PREEMPTION_SIGNAL SIGURG

enum preemption_where {
    PREEMPTION_ELSEWHERE, /* in the runtime, in libc, in a handler of another signal: it must not be left now */
    PREEMPTION_CALL, /* in a system call of somebody else's that waits, has been interrupted, or is to be made again:
                        for handlers of signals, which come before its result */
    PREEMPTION_APPLICATION /* in code that may be left: what is called back may switch to another context */
};

/* Called in the handler, with errno free to be changed. If it switches (or leaves the handler by siglongjmp), it
 * returns when somebody switches back, perhaps on another kernel thread. True: call again shortly. */
typedef bool preemption_interrupted(enum preemption_where where);

/* Whether the code at this instruction may be left there, for as long as others run: whoever has threads knows. Called
 * in handlers, wherever the program is. Nothing of the runtime may be. */
typedef bool preemption_may_be_left(uintptr_t instruction);

/* Once, before the rest. Returns 0 or an error number. */
int preemption_start(preemption_interrupted *interrupted, preemption_may_be_left *may_be_left);

/* The calling kernel thread can be interrupted from now on. Its signal mask is that of all threads that it runs:
 * whoever blocks more signals is not left. Returns 0 or an error number. */
int preemption_attach(void);

/* Interrupts the calling kernel thread at an instant of CLOCK_MONOTONIC, in nanoseconds; not at one that was asked for
 * before. Calls no libc function. */
void preemption_arm(int64_t instant);

/* Whether the instant that was asked for last has come, or none ever was: an interruption may have had other reasons.
 * Asks for it anew. */
bool preemption_is_due(void);
void preemption_rearm(void);

/* As sigaction, for a signal that is not to be put off by tools that look on: it must come at any instruction. `flags`:
 * besides SA_SIGINFO; `mask`: what is blocked meanwhile. Returns 0 or an error number. */
int preemption_install(int signal, void (*handler)(int, siginfo_t *, void *), unsigned long flags, uint64_t mask);

/* Where the code is that a signal has interrupted. */
enum preemption_where preemption_where(const ucontext_t *context);

/* At the end of a handler that has called back from somewhere else than PREEMPTION_ELSEWHERE: other threads may have
 * run since. */
void preemption_settle(ucontext_t *context);

/* At the end of a handler that has come to PREEMPTION_ELSEWHERE, or for a fault. `postponed`: what preemption_postponed
 * has said before anything was called back. If there is room again meanwhile, the interrupted code is not to block that
 * any longer. */
void preemption_settle_elsewhere(ucontext_t *context, uint64_t postponed);

/* Interrupts again shortly; for a handler that could do nothing where it came. */
void preemption_look_again(const ucontext_t *context);

/* The calling kernel thread blocks these signals no longer. Returns 0 or an error number. */
int preemption_unblock(uint64_t signals);

/* Neither does any other that can be interrupted, once it has been interrupted. */
void preemption_unblock_all(uint64_t signals);

/* A kernel thread that can be interrupted, for a handler that runs on one that cannot: there something is to be seen
 * to. False: the caller can, or none can, or none can be interrupted now. */
bool preemption_pass_on(void);

/* For its handler: the interrupted code goes on with these signals blocked as well, until they are unblocked. */
void preemption_postpone(uint64_t signals, ucontext_t *context);

/* Which the calling kernel thread blocks for that now. */
uint64_t preemption_postponed(void);

/* ---- Signals that are caught for others -------------------------------------------------------------------------- */

/* All are called in the handler, wherever the program is, with errno free to be changed. */
struct preemption_catcher {
    void (*arrived)(void); /* there is one to be asked for */
    /* After `arrived`: the code that is interrupted must not be left; as the next. */
    bool (*postponed)(void);
    /* After `arrived`: what is interrupted is the application's own code or, if `held`, a system call of its own that
     * waits or has sent the signal; that is not to be left. The mask of the kernel thread is as it was in that code;
     * the handler may be left by siglongjmp. True: come again shortly. */
    bool (*interrupted)(bool held);
    /* The code that is interrupted has caused it; the same holds. */
    void (*fault)(siginfo_t *info, void *context, bool held);
};

/* Once, before the rest. */
void preemption_catch_start(const struct preemption_catcher *catcher);

/* Catches a signal. `flags`: SA_RESTART, SA_ONSTACK, SA_NOCLDSTOP, SA_NOCLDWAIT. Returns 0 or an error number. */
int preemption_catch(int signal, unsigned long flags);

/* Keeps one that was caught otherwise; false: there is no room. */
bool preemption_keep(const siginfo_t *info);

/* Whether the code that the signal has interrupted is the call that has sent it. */
bool preemption_has_sent(const siginfo_t *info, const ucontext_t *context);

/* The next one that has arrived; false: there is none. What finds no room here waits in the kernel. */
bool preemption_arrival(siginfo_t *info);

/* In a child of fork: none has. */
void preemption_arrivals_restart(void);

/* For signal.c: whether what finds no room waits. */
bool preemption_arrivals_shut(void);

/* Whether such a signal says that the interrupted code has caused it. */
bool preemption_is_fault(const siginfo_t *info);

#endif
