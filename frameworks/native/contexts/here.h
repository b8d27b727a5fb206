/*
 * All that the runtime keeps for a kernel thread, behind one door, here(). Each layer has its part, and touches only
 * that.
 *
 *     the application's thread_local variables │ struct here │ the application's
 *
 * The application's may be each thread's own (process/thread_locals.c); these stay with the kernel thread.
 *
 * Beneath a program that does not know of the runtime, libc's pointer to thread_local variables is the running
 * thread's own. The kernel thread has these by the other such register, %gs (CATAPULTS_BENEATH).
 */
#ifndef CATAPULTS_HERE_H
#define CATAPULTS_HERE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lwp;
struct processor;

struct here {
    /* The activation's state, which sa.h's sa_runs reads; sa_state is another name of it. */
    const uint8_t *state;
    struct lwp *activation; /* the one that the kernel thread is; NULL: none. Assembly knows its offset. */
    /* dispatcher: the one that the kernel thread carries. Those that carry none see the first. */
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
        uint64_t opened;    /* the signals of preemption_unblock_all that it no longer blocks */
        uint64_t postponed; /* and these, for a while: see preemption_postpone */
        struct {
            void *base;
            size_t size;
            int flags;
        } stack;          /* for handlers of signals that ask for one */
        int64_t patience; /* how soon it looked last time */
    } signals;

    struct { /* threads */
        bool runs_threads;
        bool carried;      /* it carries a processor, as an activation */
        int64_t counted;   /* its time for which a thread was charged, or nobody was to be (account.c) */
        char report[1024]; /* several may report at once */
    } process;

#ifdef CATAPULTS_BENEATH
    struct {                       /* beneath */
        volatile bool inside;      /* it is in the runtime: whatever calls the kernel now is not an application's */
        volatile bool apart;       /* and there in a call of the kernel's, with nothing in the middle */
        volatile uint64_t arrived; /* signals that came meanwhile, and their data: see beneath/arrived.c */
        uint64_t kept[64][16];
        bool stack_is_anothers; /* its stack for handlers is that of a thread that ran before */
        uint32_t done;          /* the number of the last call of everywhere.c */
        int64_t *variables;     /* of the thread that runs, for code that probes.c puts into the program */
        char *last_stack;       /* its top: threads end on it, because theirs is NPTL's again before they are gone */
    } beneath;
#endif
};

#ifdef CATAPULTS_BENEATH

enum { LAST_STACK = 64 << 10 }; /* bytes */

/* What %gs leads to. */
struct here_block {
    struct here *self;
    struct here here;
};

static inline __attribute__((always_inline)) struct here *here(void) {
    struct here *variables;
    __asm__ volatile("movq %%gs:0, %0" : "=r"(variables) : : "memory");
    return variables;
}

/* Whether the kernel thread is in the runtime, by one instruction each: between two, the thread may come to another. */
static inline __attribute__((always_inline)) bool here_inside(void) {
    uint32_t inside;
    __asm__ volatile("movzbl %%gs:%c1, %0"
                     : "=r"(inside)
                     : "i"(offsetof(struct here_block, here.beneath.inside))
                     : "memory");
    return inside;
}
static inline __attribute__((always_inline)) void here_set_inside(bool inside) {
    __asm__ volatile("movb %0, %%gs:%c1"
                     :
                     : "qi"((uint8_t)inside), "i"(offsetof(struct here_block, here.beneath.inside))
                     : "memory");
}

/* The same of `apart`. */
static inline __attribute__((always_inline)) bool here_apart(void) {
    uint32_t apart;
    __asm__ volatile("movzbl %%gs:%c1, %0"
                     : "=r"(apart)
                     : "i"(offsetof(struct here_block, here.beneath.apart))
                     : "memory");
    return apart;
}
static inline __attribute__((always_inline)) void here_set_apart(bool apart) {
    __asm__ volatile("movb %0, %%gs:%c1"
                     :
                     : "qi"((uint8_t)apart), "i"(offsetof(struct here_block, here.beneath.apart))
                     : "memory");
}

/* The calling kernel thread gets its variables: the first, and another, to which `block` belongs for good. */
void here_start(void);
void here_begin(struct here_block *block, char *last_stack);

#else

/* In a library to be loaded, where they are is known when it is loaded. It must be loaded with the program: dlopen may
 * have no room for them. */
#if defined(__PIC__) && !defined(__PIE__)
#define HERE_IS_LOADED 1
#define HERE_MODEL "initial-exec"
#else
#define HERE_IS_LOADED 0
#define HERE_MODEL "local-exec"
#endif

extern _Thread_local struct here here_variables __attribute__((visibility("hidden"), tls_model(HERE_MODEL)));

/* Those of the kernel thread that the caller runs on. After a switch it may be another one, so the result must not be
 * kept. Nor may the compiler keep it in a register, as it would where it has to be computed. */
static inline __attribute__((always_inline)) struct here *here(void) {
#if defined(__x86_64__) && HERE_IS_LOADED
    struct here *variables;
    __asm__ volatile("movq %%fs:0, %0\n\t"
                     "addq here_variables@gottpoff(%%rip), %0"
                     : "=r"(variables)
                     :
                     : "cc", "memory");
    return variables;
#elif defined(__aarch64__) && HERE_IS_LOADED
    struct here *variables;
    uintptr_t offset;
    __asm__ volatile("mrs %0, tpidr_el0\n\t"
                     "adrp %1, :gottprel:here_variables\n\t"
                     "ldr %1, [%1, #:gottprel_lo12:here_variables]\n\t"
                     "add %0, %0, %1"
                     : "=&r"(variables), "=&r"(offset)
                     :
                     : "memory");
    return variables;
#elif defined(__aarch64__)
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

#endif /* CATAPULTS_BENEATH */

#endif
