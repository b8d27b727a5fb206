/*
 * All that the runtime keeps for a kernel thread, behind one door, here(). Each layer has its part, and touches that
 * only.
 *
 *     the application's thread_local variables │ struct here │ the application's
 *
 * The application's may be each thread's own (process/thread_locals.c); these stay with the kernel thread.
 */
#ifndef CATAPULTS_HERE_H
#define CATAPULTS_HERE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lwp;
struct processor;

struct here {
    /* The state of the activation, as sa.h's sa_runs reads it; sa_state is another name of it. */
    const uint8_t *state;
    struct lwp *activation; /* that the kernel thread is; NULL: none. Assembly knows where it stands. */
    /* dispatcher: that the kernel thread carries. Those that carry none see the first. */
    struct processor *processor;

    /* activations: for the kernel, where libc has no area of its own. */
    struct {
        char area[32];
    } restartable __attribute__((aligned(32)));

    struct { /* preemption/kernel_timer.c */
        bool made;
        int timer;       /* the kernel's number */
        int64_t instant; /* that was asked for last */
    } timer;

    struct { /* preemption/signal.c */
        bool attached;
        uint64_t mask;      /* of signals */
        uint64_t opened;    /* those of all kernel threads' that it does not block any more */
        uint64_t postponed; /* and these, for a while: see preemption_postpone */
        struct {
            void *base;
            size_t size;
            int flags;
        } stack;          /* for handlers of signals that ask for one */
        int64_t patience; /* how soon we looked last time */
    } signals;

    struct { /* threads */
        bool runs_threads;
        bool carried;      /* a processor, as an activation */
        int64_t counted;   /* of its time, that for which somebody was, or nobody was to be charged (account.c) */
        char report[1024]; /* several may have something to say */
    } process;
};

extern _Thread_local struct here here_variables __attribute__((visibility("hidden"), tls_model("local-exec")));

/* Those of the kernel thread that the caller runs on. After a switch it may be another one: the result is not to be
 * kept. Nor may the compiler keep it in a register, as it does on machines where it has to be computed. */
static inline __attribute__((always_inline)) struct here *here(void) {
#if defined(__aarch64__)
    struct here *variables;
    __asm__ volatile("mrs %0, tpidr_el0\n\t"
                     "add %0, %0, #:tprel_hi12:here_variables, lsl #12\n\t"
                     "add %0, %0, #:tprel_lo12_nc:here_variables"
                     : "=r"(variables)
                     :
                     : "memory");
    return variables;
#else
    return &here_variables;
#endif
}

#endif
