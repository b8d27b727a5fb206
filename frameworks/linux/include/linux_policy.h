/*
 * What a translated policy includes. It is compiled for BPF: the kernel's verifier reads the programs before it runs
 * them, and accepts only what it can prove to be harmless. Schedulers and threads lie in an arena, a memory of which it
 * need not know anything.
 */
#ifndef CATAPULTS_LINUX_POLICY_H
#define CATAPULTS_LINUX_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Pointers into the arena: LLVM makes of them what the verifier knows as such. */
#define CATAPULTS_MEMORY __attribute__((address_space(1)))

/* The verifier follows each call of such a function anew, but from few states. */
#define CATAPULTS_CALLED static __attribute__((noinline, unused))
#define CATAPULTS_IN_PLACE static inline __attribute__((always_inline))

/* An element of an array that lies there. To the verifier of Linux 6.18, a pointer and a number are a pointer, but a
 * number and a pointer are a mistake, and LLVM may add in either order: so it adds before it knows that the sum leads
 * there. */
#define CATAPULTS_ELEMENT_OF(array, index)                                                                             \
    (*({                                                                                                               \
        __typeof__(&(array)[0]) catapults_it = (array) + (index);                                                      \
        __asm__("" : "+r"(catapults_it));                                                                              \
        catapults_it;                                                                                                  \
    }))

/* 0. The verifier does not know that: it reads a memory that anything may have changed. */
static volatile uint64_t catapults_unknown_zero;
#define CATAPULTS_COUNTED(value) ((value) + (int64_t)catapults_unknown_zero)

/* Where what is known of a pointer in one function decides a comparison in another that it is given to, the verifier of
 * Linux 6.18 goes back to where that was learnt, can fail to find it, and refuses the program: `static subprog
 * unexpected regs`. */
#define CATAPULTS_FORGOTTEN(pointer) ((__typeof__(pointer))((uint64_t)(pointer) + catapults_unknown_zero))

/* A loop has taken as many turns as the kernel allows, or as long, and ended early: what the handler did is worth
 * nothing. The host looks here after each handler. One for all processors: one handler runs at a time. Volatile so that
 * LLVM leaves its size as the types of the object say. */
static volatile uint32_t catapults_spent;

/* Whether the loop may go on. The verifier takes it that at some turn it may not, so it need not see why the loop ends.
 */
#define CATAPULTS_MAY_GO_ON                                                                                            \
    ({                                                                                                                 \
        __label__ stop, end;                                                                                           \
        bool may_go_on = true;                                                                                         \
        __asm__ volatile goto("may_goto %l[stop]" : : : : stop);                                                       \
        goto end;                                                                                                      \
    stop:                                                                                                              \
        may_go_on = false;                                                                                             \
        catapults_spent = 1;                                                                                           \
    end:;                                                                                                              \
        may_go_on;                                                                                                     \
    })
#define CATAPULTS_LOOP(condition) ((condition) && CATAPULTS_MAY_GO_ON)

#include "catapults/policy.h"

#endif
