/*
 * A call of the kernel that libc was about to make: the registers, as beneath_entry leaves them on the caller's stack.
 */
#ifndef CATAPULTS_BENEATH_CALL_H
#define CATAPULTS_BENEATH_CALL_H

#include <errno.h>
#include <stdint.h>

#include "contexts/system.h"

struct call {
    uint64_t r15, r14, r13, r12, rbp, rbx;
    long sixth, fifth, fourth, third, second, first; /* r9, r8, r10, rdx, rsi, rdi */
    long number;                                     /* rax */
    uintptr_t site;                                  /* rcx: the address behind it */
    uintptr_t stub;                                  /* where beneath_entry returns to */
};
_Static_assert(sizeof(struct call) == 120, "entry_x86_64.S");

enum { RED_ZONE = 128 }; /* bytes below its stack pointer that code may use: above struct call */

/* In assembly: see there. */
void beneath_entry(void);
void beneath_first(struct call *call);
long beneath_child_on_stack(struct call *call);
_Noreturn void beneath_on_stack(void *top, void (*function)(void *argument), void *argument);

/* Makes it as it is. */
static inline long call_kernel(const struct call *call) {
    return system_call_6(call->number, call->first, call->second, call->third, call->fourth, call->fifth, call->sixth);
}

/* For a call that does not wait. Even that is broken off by a signal, be it the runtime's own. */
static inline long call_at_once(const struct call *call) {
    long result;
    do
        result = call_kernel(call);
    while (result == -EINTR);
    return result;
}

/* Whether a call that a signal has ended is made again after its handlers: never, if all of them have SA_RESTART, or
 * always. See signal(7). */
enum again { AGAIN_NEVER, AGAIN_IF_ALLOWED, AGAIN_ALWAYS };

/* Does what the kernel would do; for the calls that concern threads, or that may wait. Returns what the kernel
 * would. */
long beneath_call(struct call *call);

#endif
