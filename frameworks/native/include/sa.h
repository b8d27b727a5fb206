/*
 * Scheduler activations on stock Linux: NetBSD's interface (Williams, "An Implementation of Scheduler Activations on
 * the NetBSD Operating System", USENIX 2002, §4), made of kernel threads, without privilege. A thread library that is
 * written to it keeps its processors when its threads block in the kernel, whatever they block on.
 *
 * A *processor* is the right to run; the process has as many as sa_setconcurrency allows. An *activation* is a kernel
 * thread; at most one of them runs on each processor. What the library must know reaches it by an upcall: on a
 * processor, on an activation that runs nothing else, on a stack given with sa_stacks. An upcall does not return; it
 * goes on with some thread.
 *
 * Interrupted contexts. What an activation was doing when it was interrupted, or when it blocked, is a context that
 * only sa_resume continues; it stays on its activation until it calls the library and the library switches it out by
 * itself (swapcontext, or a switch of its own). So an interrupted malloc, or whatever else uses variables of the kernel
 * thread, is never continued on another kernel thread while the first one runs something else. A context that was
 * switched out by the library may continue on any activation.
 *
 * Blocking. A standby thread of the class SCHED_IDLE waits beside each processor: the kernel runs it as soon as the
 * processor's activation blocks. It looks up whether that activation is blocked, or only waits for its CPU because
 * another process has it, and has a spare activation deliver SA_UPCALL_BLOCKED. While nothing blocks this costs
 * nothing. Where the CPU has other work at that moment, a second look is taken every 10 ms by a thread of the ordinary
 * class: BLOCKED then comes within 20 ms and what that thread waits for the CPU itself.
 *
 * Returning. A context that comes back from the kernel is caught on its way, before it executes an instruction, by the
 * kernel's restartable sequences (rseq), where those allow it: x86-64, Linux before 6.19; for page faults, later ones,
 * too. Elsewhere a timer of its CPU time catches it at the kernel's next tick, or sa_self does when the library asks.
 * In that time more contexts than processors may run.
 *
 * Critical sections (§6). An interruption is put off while the interrupted code lies in a range of sa_sections, or
 * within sa_hold and sa_release. In a range this costs nothing unless it happens; then the interruption is tried again
 * 50 µs later. If it finds sections twenty times in a row, x86-64 executes them step by step (up to 2,000 instructions;
 * so SIGTRAP is the layer's unless the program has a handler when it calls sa_enable). A context that blocks in a
 * section, say by a page fault, keeps its processor.
 *
 * Everything here may be called from signal handlers, but for sa_register, sa_enable and sa_setconcurrency before
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
    ucontext_t *sa_context; /* for sa_resume; of a BLOCKED one only its program counter and stack pointer are known, and
                               NULL stands for an activation that ran nothing */
    int sa_id;              /* the activation: 1 and up */
    int sa_cpu;             /* the processor that it runs or ran on: 0 and up */
};

/*
 * sas[0] is the activation that makes the upcall, sas[1] … sas[events] those that it is about, the next `interrupted`
 * those that were stopped to make it. The array is valid until this activation calls sa_resume or sa_yield. An upcall
 * begins as if sa_hold had been called, so none is itself interrupted: the library calls sa_release when it has gone on
 * with a thread by a switch of its own; sa_resume and sa_yield do so.
 */
typedef void (*sa_upcall_t)(int type, struct sa_t *sas[], int events, int interrupted, void *arg);

/* The types. */
enum sa_upcall {
    SA_UPCALL_NEWPROC,   /* a new processor; the first time, sas[1] is the caller of sa_enable */
    SA_UPCALL_PREEMPTED, /* processors were taken away, from these activations */
    SA_UPCALL_BLOCKED,   /* sas[1] has blocked in the kernel, and the upcall has its processor */
    /* These have come back, and wait for sa_resume. With several processors this upcall may run beside the BLOCKED one
     * of the same activation, and overtake it in the library. */
    SA_UPCALL_UNBLOCKED,
    SA_UPCALL_SIGNAL, /* arg is a siginfo_t; sas[1] is who has caused it, a fault, or sent it to itself */
    SA_UPCALL_SIGEV,  /* never made */
    SA_UPCALL_USER    /* sa_preempt was called for sas[1], or sa_interrupt for its processor */
};
#define SA_UPCALL_NUPCALLS 7

/* NetBSD's flag; upcalls for every preemption by another process are not made. */
#define SA_FLAG_PREEMPT 1
/* As many processors as sa_setconcurrency asks for, however few CPUs there are: none comes or goes by itself. */
#define SA_FLAG_FIXED 2

/* Most processors, activations, those of which that are blocked or have been and have not gone on, stacks, and
 * activations in one upcall. Whatever is beyond that waits: who blocks then holds the processor. */
#define SA_PROCESSORS_MOST 64
#define SA_ACTIVATIONS_MOST 1024
#define SA_BLOCKED_MOST 512
#define SA_STACKS_MOST 1024
#define SA_EVENTS_MOST 16

/* ---- NetBSD's calls ------------------------------------------------------------------------------------------------
 */

/* The routine for upcalls; the one before goes to *old (may be NULL). `flags`: of the two above. `stackinfo_offset`
 * must be -1 or 0: stacks are given back with sa_stacks only. EINVAL. */
int sa_register(sa_upcall_t upcall, sa_upcall_t *old, int flags, ssize_t stackinfo_offset);

/* Gives stacks, at first and for recycling; each serves one upcall. At least 16 KiB each. Returns how many were taken.
 * Without stacks upcalls wait. A stack may be given back once its upcall has gone on with something else. */
int sa_stacks(int count, const stack_t *stacks);

/* How many processors the library can use; 1 at first. Returns the number that it has from now on: not more than CPUs
 * are allowed to the process, unless SA_FLAG_FIXED is set. Those that come and go by it are told by upcalls, and so are
 * those that come and go with the CPUs that the process may use. That is what its first kernel thread may use: it
 * changes with sched_setaffinity for the number of the process, with its cpuset, and when a CPU is unplugged. It is
 * looked at ten times a second while a processor is busy; the activations are then given the same CPUs. */
int sa_setconcurrency(int processors);

/* Starts: makes the upcall NEWPROC with the caller as its sas[1]; returns 0 when that is resumed. EINVAL: no routine.
 * EBUSY: called before. ENOSYS: no rseq in the kernel. Or what open(2), timer_create(2) and pthread_create(3) say. */
int sa_enable(void);

/* Gives up the processor until there is an upcall for it. The caller's stack is not used any more: does not return,
 * unless the caller has no processor (EPERM). */
int sa_yield(void);

/* Interrupts the activation with USER, or wakes it from sa_yield: its context is NULL then. ESRCH: it has no processor.
 * Also for kernel threads that are no activations. */
int sa_preempt(int id);

/* ---- What Linux needs beyond
 * ----------------------------------------------------------------------------------------- */

/* Goes on with an interrupted context, on the caller's processor. The caller's stack is not used any more. Each context
 * once. In a child of fork, of one that a signal had interrupted: as the parent would have. */
__attribute__((noreturn)) void sa_resume(ucontext_t *context);

/* Calls function(argument) on the stack of an interrupted context, below what that uses, which waits meanwhile: for
 * handlers of signals. Does not return: the function ends in sa_resume, or forgets the context. The caller's stack is
 * not used any more; its hold goes on, until the function calls sa_release. */
__attribute__((noreturn)) void sa_call(ucontext_t *context, void (*function)(void *), void *argument);

/* The context will not go on. When this returns 0, nothing uses its stack any more. EBUSY: it is that of a BLOCKED
 * activation, whose stack the kernel may use: nothing has changed, and what UNBLOCKED tells of can be forgotten. */
int sa_forget(ucontext_t *context);

/* As sa_preempt, for whatever a processor runs, or goes on with when it is in the library: how a library has another of
 * its processors look at what it is to run. ESRCH: there is no such processor. */
int sa_interrupt(int cpu);

/* The same at an instant of CLOCK_MONOTONIC, in nanoseconds, and not at the one that was asked for before; 0: at none.
 * What has blocked is not disturbed, but within a hold or a section: whoever has the processor then makes the upcall.
 * Still, what blocks in the moment in which it is interrupted, or up to 0.3 ms after it was found in a hold or a
 * section, may find its call broken off (EINTR). */
int sa_alarm(int cpu, int64_t instant);

/* The activation that the caller runs on; NULL: none. If it came back from the kernel unnoticed it is handed in first,
 * and the call returns once it has been resumed. Libraries call it first in whatever they do. Valid until the library
 * switches contexts. */
const struct sa_t *sa_self(void);

/* The processor that the caller runs on; -1: none, or it may have been taken away a moment ago. Changes nothing: for
 * handlers of signals. */
int sa_processor(void);

/* Whether the caller has a processor, so that sa_self would change nothing: for calls of a library that are as short as
 * one of sa_self would be. 0: sa_self is to be asked. Not to be remembered across a switch. */
#if defined(__x86_64__)
#define SA_RUNS 5
extern __thread const uint8_t *sa_state __attribute__((tls_model("initial-exec"))); /* the layer's own */
static inline int sa_runs(void) { return __atomic_load_n(sa_state, __ATOMIC_ACQUIRE) == SA_RUNS; }
#else
/* Compilers would remember where the variable is, and after a switch it may be another kernel thread's. */
static inline int sa_runs(void) { return 0; }
#endif

/* Code that is not to be interrupted: [begin, end) of at most 16 ranges in all. EINVAL, ENOSPC. */
struct sa_section {
    const void *begin, *end;
};
int sa_sections(int count, const struct sa_section *sections);

/* The same for whatever is called between these two: for sections that leave the library's own code. They nest, and
 * belong to the activation: a switch within a section leaves the release to the context that it goes on with. sa_resume
 * and sa_yield end all of them. The caller keeps its processor also if it blocks: a library that waits for events
 * itself does so here. The first one does what sa_self does. */
void sa_hold(void);
void sa_release(void);

/* Signals that are to come by the upcall SIGNAL: all in the set, and no others from now on (they get their default
 * action). On activations they come whatever the program has blocked, with sigprocmask or before sa_enable; while there
 * are 128 on their way, the others wait in the kernel. EINVAL: the layer's own, SIGKILL, SIGSTOP. */
int sa_signals(const sigset_t *signals);

#ifdef __cplusplus
}
#endif
#endif
