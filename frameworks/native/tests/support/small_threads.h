/*
 * A thread library written to <sa.h> alone: preemptive threads on any number of processors, first come, first served.
 * It shows how one is built, and the tests of the activations use it.
 *
 * One lock guards all of it. Whoever has the lock holds its processor (sa_hold), so no upcall interrupts the library
 * itself, and a switch leaves both to the one that it goes on with.
 */
#ifndef CATAPULTS_SMALL_THREADS_H
#define CATAPULTS_SMALL_THREADS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "sa.h"

enum { SMALL_STACK = 128 << 10, SMALL_STACKS = 64, SMALL_IDS = SA_ACTIVATIONS_MOST + 1 };

struct small_thread {
    ucontext_t own;          /* where the library switched it out */
    ucontext_t *interrupted; /* where it was interrupted, or came back from the kernel; NULL: see own */
    struct small_thread *next;
    void (*start)(void *);
    void *argument, *stack;
    bool ended;
};

static struct {
    atomic_flag lock;
    struct small_thread *first, **last; /* that are ready */
    struct small_thread *current[SA_PROCESSORS_MOST];
    struct small_thread *blocked[SMALL_IDS]; /* by activation */
    ucontext_t *back[SMALL_IDS];             /* UNBLOCKED has overtaken BLOCKED */
    void *left[SA_PROCESSORS_MOST];          /* the stack that the processor's last upcall was made on */
    void *free;                              /* stacks: a list */
    int given;                               /* those that the layer has */
    int idle[SA_PROCESSORS_MOST];            /* the activation that has gone to sleep with it; 0: none */
    struct small_thread main;
    _Atomic int upcalls[SA_UPCALL_NUPCALLS];
    void (*signal)(siginfo_t *info, ucontext_t *fault); /* of the program: called in the upcall */
} small = {.lock = ATOMIC_FLAG_INIT};

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define small_unpoison(stack) __asan_unpoison_memory_region(stack, SMALL_STACK)
#else
#define small_unpoison(stack) ((void)(stack))
#endif

static inline void small_lock_held(void) {
    while (atomic_flag_test_and_set_explicit(&small.lock, memory_order_acquire))
        ;
}

static inline void small_lock(void) {
    sa_hold();
    small_lock_held();
}

static inline void small_unlock(void) {
    atomic_flag_clear_explicit(&small.lock, memory_order_release);
    sa_release();
}

static inline void small_ready(struct small_thread *thread) {
    thread->next = NULL;
    if (!small.first)
        small.last = &small.first;
    *small.last = thread;
    small.last = &thread->next;
}

static inline struct small_thread *small_next(void) {
    struct small_thread *thread = small.first;
    if (thread)
        small.first = thread->next;
    return thread;
}

/* Aligned, so that an upcall finds its stack from an address on it. */
static inline void *small_map(size_t count) {
    char *all =
        mmap(NULL, (count + 1) * SMALL_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    return all == MAP_FAILED ? abort(), NULL : all + (SMALL_STACK - (uintptr_t)all % SMALL_STACK);
}

/* The lock is held, here and below. */
static inline void *small_take_stack(void) {
    void **stack = small.free;
    if (!stack)
        return small_map(1);
    small.free = *stack;
    small_unpoison(stack);
    return stack;
}

/* To the layer, if it has few. */
static inline void small_give_stack(void *stack) {
    small_unpoison(stack);
    if (small.given < SMALL_STACKS) {
        small.given += sa_stacks(1, &(stack_t){.ss_sp = stack, .ss_size = SMALL_STACK});
    } else {
        *(void **)stack = small.free;
        small.free = stack;
    }
}

/* The caller's stack, that of an upcall or of small_leave, is `stack`. */
__attribute__((noreturn)) static inline void small_dispatch(int cpu, void *stack) {
    if (small.left[cpu])
        small_give_stack(small.left[cpu]); /* who was there has gone */
    small.left[cpu] = stack;
    struct small_thread *next = small_next();
    small.current[cpu] = next;
    if (!next) {
        small.idle[cpu] = sa_self()->sa_id;
        atomic_flag_clear_explicit(&small.lock, memory_order_release);
        sa_yield();
    } else if (next->interrupted) {
        ucontext_t *context = next->interrupted;
        next->interrupted = NULL;
        atomic_flag_clear_explicit(&small.lock, memory_order_release);
        sa_resume(context);
    } else {
        setcontext(&next->own);
    }
    abort();
}

static inline void small_on_stack(int stack_high, int stack_low, int cpu) {
    small_dispatch(cpu, (void *)(((uintptr_t)(unsigned)stack_high << 32) | (unsigned)stack_low));
}

/* Leaves the caller, who has the lock, and runs another. */
static __attribute__((noinline)) void small_leave(struct small_thread *self, bool ready) {
    int cpu = sa_self()->sa_cpu;
    ucontext_t elsewhere;
    getcontext(&elsewhere);
    void *stack = small_take_stack();
    elsewhere.uc_stack = (stack_t){.ss_sp = stack, .ss_size = SMALL_STACK};
    makecontext(&elsewhere, (void (*)(void))small_on_stack, 3, (int)((uintptr_t)stack >> 32), (int)(uintptr_t)stack,
                cpu);
    if (ready)
        small_ready(self);
    swapcontext(&self->own, &elsewhere);
}

/* A processor that sleeps is woken for what has become ready. */
static inline void small_wake(void) {
    for (int cpu = 0; cpu < SA_PROCESSORS_MOST; cpu++)
        if (small.idle[cpu]) {
            int id = small.idle[cpu];
            small.idle[cpu] = 0;
            sa_preempt(id);
            return;
        }
}

static inline struct small_thread *small_self(void) {
    sa_hold();
    struct small_thread *self = small.current[sa_self()->sa_cpu];
    sa_release();
    return self;
}

static inline void small_yield(void) {
    small_lock();
    if (small.first)
        small_leave(small_self(), true);
    small_unlock();
}

static inline void small_begin(int high, int low) {
    struct small_thread *self = (struct small_thread *)(((uintptr_t)(unsigned)high << 32) | (unsigned)low);
    small_unlock();
    self->start(self->argument);
    small_lock();
    self->ended = true;
    small_leave(self, false);
}

static inline void small_create(struct small_thread *thread, void (*start)(void *), void *argument) {
    small_lock();
    *thread = (struct small_thread){.start = start, .argument = argument, .stack = small_take_stack()};
    getcontext(&thread->own);
    thread->own.uc_stack = (stack_t){.ss_sp = thread->stack, .ss_size = SMALL_STACK};
    makecontext(&thread->own, (void (*)(void))small_begin, 2, (int)((uintptr_t)thread >> 32), (int)(uintptr_t)thread);
    small_ready(thread);
    small_wake();
    small_unlock();
}

static inline void small_join(struct small_thread *thread) {
    for (;;) {
        small_lock();
        if (thread->ended)
            break;
        small_leave(small_self(), true);
        small_unlock();
    }
    small_unlock();
}

/* Took `thread` from the processor of `sa`. */
static inline struct small_thread *small_taken(const struct sa_t *sa) {
    struct small_thread *thread = small.current[sa->sa_cpu];
    small.current[sa->sa_cpu] = NULL;
    return thread;
}

static inline void small_stopped(const struct sa_t *sa, bool in_front) {
    struct small_thread *thread = small_taken(sa);
    small.idle[sa->sa_cpu] = 0;
    if (!sa->sa_context)
        return; /* it had nothing to run */
    thread->interrupted = sa->sa_context;
    if (in_front && small.first) {
        thread->next = small.first;
        small.first = thread;
    } else {
        small_ready(thread);
    }
}

static void small_upcall(int type, struct sa_t *sas[], int events, int interrupted, void *argument) {
    int cpu = sas[0]->sa_cpu;
    char here;
    small_lock_held();
    small.upcalls[type]++;
    small.given--;
    small.idle[cpu] = 0;
    for (int i = events + 1; i <= events + interrupted; i++)
        small_stopped(sas[i], type != SA_UPCALL_SIGNAL);
    switch (type) {
    case SA_UPCALL_NEWPROC:
        if (events) {
            small.current[cpu] = &small.main;
            small_stopped(sas[1], false);
        }
        break;
    case SA_UPCALL_BLOCKED: {
        struct small_thread *thread = small_taken(sas[1]);
        ucontext_t **back = &small.back[sas[1]->sa_id];
        if (*back) {
            thread->interrupted = *back;
            *back = NULL;
            small_ready(thread);
        } else {
            small.blocked[sas[1]->sa_id] = thread;
        }
        break;
    }
    case SA_UPCALL_UNBLOCKED:
        for (int i = 1; i <= events; i++) {
            struct small_thread **blocked = &small.blocked[sas[i]->sa_id];
            if (*blocked) {
                (*blocked)->interrupted = sas[i]->sa_context;
                small_ready(*blocked);
                *blocked = NULL;
            } else {
                small.back[sas[i]->sa_id] = sas[i]->sa_context;
            }
        }
        break;
    case SA_UPCALL_PREEMPTED:
    case SA_UPCALL_USER:
        for (int i = 1; i <= events; i++)
            small_stopped(sas[i], false);
        break;
    case SA_UPCALL_SIGNAL:
        if (events)
            small_stopped(sas[1], true);
        if (small.signal)
            small.signal(argument, events ? sas[1]->sa_context : NULL);
        break;
    }
    small_wake();
    small_dispatch(cpu, (void *)((uintptr_t)&here / SMALL_STACK * SMALL_STACK));
}

/* The caller becomes the first thread. */
static inline int small_start_with(sa_upcall_t upcall, int processors) {
    char *all = small_map(SMALL_STACKS);
    stack_t stacks[SMALL_STACKS];
    for (int i = 0; i < SMALL_STACKS; i++)
        stacks[i] = (stack_t){.ss_sp = all + (size_t)i * SMALL_STACK, .ss_size = SMALL_STACK};
    small.given = SMALL_STACKS;
    if (sa_register(upcall, NULL, 0, -1) != 0 || sa_stacks(SMALL_STACKS, stacks) != SMALL_STACKS)
        return -1;
    if (sa_enable() != 0)
        return -1;
    return processors > 1 ? (sa_setconcurrency(processors) > 0 ? 0 : -1) : 0;
}

static inline int small_start(int processors) { return small_start_with(small_upcall, processors); }

#endif
