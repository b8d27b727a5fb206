/*
 * Scheduler activations on stock Linux: NetBSD's interface (Williams, "An Implementation of Scheduler Activations on
 * the NetBSD Operating System", USENIX 2002, §4), made of kernel threads, without privilege. A thread library that is
 * written to it keeps its processors when its threads block in the kernel, whatever they block on.
 *
 * A *processor* is the right to run; the process has as many as sa_setconcurrency allows. An *activation* is a kernel
 * thread; at most one of them runs on each processor. The library is told by upcalls what it must know. An upcall is
 * made on a processor, on an activation that runs nothing else, on a stack given with sa_stacks. It does not return,
 * but goes on with some thread.
 *
 * Interrupted contexts. What an activation was doing when it was interrupted, or when it blocked, is a context that
 * only sa_resume continues. It stays on its activation until it calls the library and the library switches it out by
 * itself (swapcontext, or a switch of its own). So an interrupted malloc, or other code that uses variables of the
 * kernel thread, never continues on another kernel thread while the first one runs something else. A context that the
 * library switched out may continue on any activation.
 *
 * Blocking. A standby thread of the class SCHED_IDLE waits beside each processor. The kernel runs it as soon as the
 * processor's activation blocks. It finds out whether the activation is blocked, or only waits for its CPU because
 * another process has it. If it is blocked, a spare activation delivers SA_UPCALL_BLOCKED. While nothing blocks this
 * costs nothing. If the CPU has other work at that moment, a thread of the ordinary class takes a second look every 10
 * ms. BLOCKED then comes within 20 ms, plus the time for which that thread waits for the CPU.
 *
 * Returning. A context that comes back from the kernel is caught before it executes an instruction, by the kernel's
 * restartable sequences (rseq), where those allow it: x86-64, Linux before 6.19; for page faults, later ones, too.
 * Elsewhere a timer of its CPU time catches it at the kernel's next tick, or sa_self does when the library asks. Until
 * then more contexts than processors may run.
 *
 * Critical sections (§6). An interruption is put off while the interrupted code is in a range of sa_sections, or
 * between sa_hold and sa_release. A range costs nothing unless it is interrupted; then the interruption is tried again
 * 50 µs later. If it finds sections twenty times in a row, x86-64 executes them step by step (up to 2,000 instructions;
 * so SIGTRAP is the layer's unless the program has a handler when it calls sa_enable). A context that blocks in a
 * section, say by a page fault, keeps its processor.
 *
 * Everything here may be called from signal handlers, except sa_register, sa_enable, and sa_setconcurrency before
 * sa_enable. Calls return 0 or more, or -1 and set errno.
 *
 * - SIGRTMAX - 2 belongs to the layer. It may interrupt system calls as any handled signal does: they are restarted
 *   where SA_RESTART restarts them.
 * - thread_local variables, errno among them, belong to activations, not to the library's threads.
 * - After fork the child has no processors; it can exec, or go on with what does not need the layer.
 * - Each activation takes a file descriptor (/proc/self/task/…/syscall) and a timer.
 */
#ifndef CATAPULTS_SA_H
#define CATAPULTS_SA_H

#include <signal.h>
#include <stdint.h>
#include <sys/types.h>
#include <ucontext.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sa_t {
    ucontext_t *sa_context; /* for sa_resume; of a BLOCKED one only its program counter and stack pointer are known;
                               NULL: the activation ran nothing */
    int sa_id;              /* the activation: 1 and up */
    int sa_cpu;             /* the processor that it runs or ran on: 0 and up */
};

/*
 * sas[0] is the activation that makes the upcall. The upcall is about sas[1] … sas[events]; the next `interrupted` were
 * stopped to make it. The array is valid until this activation calls sa_resume or sa_yield. An upcall begins as if
 * sa_hold had been called, so it is not interrupted itself. The library calls sa_release when it has gone on with a
 * thread by a switch of its own; sa_resume and sa_yield do so.
 */
typedef void (*sa_upcall_t)(int type, struct sa_t *sas[], int events, int interrupted, void *arg);

enum sa_upcall {
    SA_UPCALL_NEWPROC,   /* a new processor; the first time, sas[1] is the caller of sa_enable */
    SA_UPCALL_PREEMPTED, /* processors were taken away, from these activations */
    SA_UPCALL_BLOCKED,   /* sas[1] has blocked in the kernel, and the upcall has its processor */
    /* These have come back, and wait for sa_resume. With several processors this upcall may run beside the BLOCKED one
     * of the same activation, and overtake it in the library. */
    SA_UPCALL_UNBLOCKED,
    SA_UPCALL_SIGNAL, /* arg is a siginfo_t; sas[1] has caused it, by a fault, or sent it to itself */
    SA_UPCALL_SIGEV,  /* never made */
    SA_UPCALL_USER    /* sa_preempt was called for sas[1], or sa_interrupt for its processor */
};
#define SA_UPCALL_NUPCALLS 7

/* NetBSD's flag; upcalls for every preemption by another process are not made. */
#define SA_FLAG_PREEMPT 1
/* As many processors as sa_setconcurrency asks for, however few CPUs there are: none comes or goes by itself. */
#define SA_FLAG_FIXED 2

/* The most processors; activations; activations that are blocked, or were and have not gone on; stacks; activations in
 * one upcall. What is beyond that waits: an activation that then blocks holds the processor. */
#define SA_PROCESSORS_MOST 64
#define SA_ACTIVATIONS_MOST 1024
#define SA_BLOCKED_MOST 512
#define SA_STACKS_MOST 1024
#define SA_EVENTS_MOST 16

/* ---- NetBSD's calls ---------------------------------------------------------------------------------------------- */

/* Sets the routine for upcalls; the one before goes to *old (may be NULL). `flags`: of the two above.
 * `stackinfo_offset` must be -1 or 0: stacks are given back with sa_stacks only. EINVAL. */
int sa_register(sa_upcall_t upcall, sa_upcall_t *old, int flags, ssize_t stackinfo_offset);

/* Gives stacks, at first and for recycling; each serves one upcall. At least 16 KiB each. Returns how many were taken.
 * Without stacks upcalls wait. A stack may be given back once its upcall has gone on with something else. */
int sa_stacks(int count, const stack_t *stacks);

/* How many processors the library can use; 1 at first. Returns the number that it has from now on: no more than the
 * CPUs that the process may use, unless SA_FLAG_FIXED is set. Upcalls tell of processors that come and go by this call,
 * and of those that come and go with these CPUs. They are the CPUs that the first kernel thread may use, and change
 * with sched_setaffinity for the number of the process, with its cpuset, and when a CPU is unplugged. They are looked
 * at ten times a second while a processor is busy; the activations are then given the same CPUs. */
int sa_setconcurrency(int processors);

/* Starts: makes the upcall NEWPROC with the caller as its sas[1]; returns 0 when the caller is resumed. EINVAL: no
 * routine. EBUSY: called before. ENOSYS: no rseq in the kernel. Or what open(2), timer_create(2) and pthread_create(3)
 * say. */
int sa_enable(void);

/* Gives up the processor until there is an upcall for it. The caller's stack is not used any more, so this does not
 * return, unless the caller has no processor (EPERM). */
int sa_yield(void);

/* Interrupts the activation with USER, or wakes it from sa_yield, and then its context is NULL. ESRCH: it has no
 * processor. Kernel threads that are no activations may call it, too. */
int sa_preempt(int id);

/* ---- What Linux needs beyond ------------------------------------------------------------------------------------- */

/* Goes on with an interrupted context, on the caller's processor; with each context once. The caller's stack is not
 * used any more. In a child of fork, a context that a signal had interrupted goes on as it would have in the parent. */
__attribute__((noreturn)) void sa_resume(ucontext_t *context);

/* Calls function(argument) on the stack of an interrupted context, below what that uses; the context waits meanwhile.
 * For handlers of signals. Does not return: the function ends in sa_resume, or forgets the context. The caller's stack
 * is not used any more; its hold goes on until the function calls sa_release. */
__attribute__((noreturn)) void sa_call(ucontext_t *context, void (*function)(void *), void *argument);

/* The context will not go on. When this returns 0, nothing uses its stack any more. EBUSY: it is that of a BLOCKED
 * activation, whose stack the kernel may use. Nothing has changed; it can be forgotten once UNBLOCKED tells of it. */
int sa_forget(ucontext_t *context);

/* As sa_preempt, for whatever a processor runs, or goes on with when it is in the library. By this a library has
 * another of its processors look at what it is to run. ESRCH: there is no such processor. */
int sa_interrupt(int cpu);

/* The same at an instant of CLOCK_MONOTONIC, in nanoseconds, instead of the one asked for before; 0: at none. It does
 * not disturb what has blocked, except within a hold or a section: the activation that then has the processor makes the
 * upcall. But a call that blocks in the moment of the interruption, or up to 0.3 ms after a hold or a section was
 * found, may be broken off (EINTR). */
int sa_alarm(int cpu, int64_t instant);

/* The activation that the caller runs on; NULL: none. If it came back from the kernel unnoticed it is handed in first,
 * and the call returns once it has been resumed. Libraries call it first in whatever they do. Valid until the library
 * switches contexts. */
const struct sa_t *sa_self(void);

/* The processor that the caller runs on; -1: none, or it may just have been taken away. Changes nothing: for handlers
 * of signals. */
int sa_processor(void);

/* Whether the caller has a processor, so that sa_self would change nothing: for library calls that are as short as a
 * call of sa_self. 0: ask sa_self. Do not keep the result across a switch. */
#if defined(__x86_64__) && !defined(CATAPULTS_BENEATH) /* where there are no activations */
#define SA_RUNS 5
extern __thread const uint8_t *sa_state __attribute__((tls_model("initial-exec"))); /* the layer's own */
static inline int sa_runs(void) { return __atomic_load_n(sa_state, __ATOMIC_ACQUIRE) == SA_RUNS; }
#else
/* Compilers would keep the variable's address, which may be another kernel thread's after a switch. */
static inline int sa_runs(void) { return 0; }
#endif

/* Code that must not be interrupted: [begin, end) of at most 16 ranges in all. EINVAL, ENOSPC. */
struct sa_section {
    const void *begin, *end;
};
int sa_sections(int count, const struct sa_section *sections);

/* The same for whatever is called between these two: for sections that leave the library's own code. They nest, and
 * belong to the activation: after a switch within a section, the context that goes on must release. sa_resume and
 * sa_yield end all of them. The caller keeps its processor even if it blocks, so a library waits for events here.
 * sa_hold also does what sa_self does. */
void sa_hold(void);
void sa_release(void);

/* Which signals come by the upcall SIGNAL: all in the set, and from now on no others, which get their default action.
 * On activations they come whatever the program has blocked, with sigprocmask or before sa_enable. While 128 are on
 * their way, the others wait in the kernel. EINVAL: the layer's own, SIGKILL, SIGSTOP. */
int sa_signals(const sigset_t *signals);

#ifdef __cplusplus
}
#endif
#endif
