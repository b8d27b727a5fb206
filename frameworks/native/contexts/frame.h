/*
 * What context_swap leaves on a stack, for each architecture; the pictures are in the assembly files.
 */
#ifndef CATAPULTS_FRAME_H
#define CATAPULTS_FRAME_H

#include <stddef.h>
#include <stdint.h>

/* In assembly: the first code of a new context. Calls entry(argument) and marks the end of the stack for debuggers. */
void context_begin(void);
/* In assembly: calls `entry` of the frame that resumed it, then goes on with the frame above. */
void context_interposed(void);
enum { CONTEXT_FILLER = 4 }; /* bytes of the first instruction of both, which is skipped */

#if defined(__x86_64__)

struct context_frame {
    void *r15, *r14;
    void *argument;        /* r13 */
    void (*entry)(void *); /* r12 */
    void *rbx;
    void *rbp;
    void (*resume)(void); /* the return address */
};
/* Above the first frame: a zero return address, and what keeps the stack aligned to 16 when context_begin runs. */
#define CONTEXT_ROOM 16
_Static_assert(sizeof(struct context_frame) == 56, "x86_64.S pushes six registers onto the return address");
_Static_assert(offsetof(struct context_frame, argument) == 16 && offsetof(struct context_frame, entry) == 24,
               "x86_64.S");

#elif defined(__aarch64__)

struct context_frame {
    void (*entry)(void *); /* x19 */
    void *argument;        /* x20 */
    void *x21_x28[8];
    void *x29;
    void (*resume)(void); /* x30, the return address */
    uint64_t d8_d15[8];
};
#define CONTEXT_ROOM 0
_Static_assert(sizeof(struct context_frame) == 160, "aarch64.S");
_Static_assert(offsetof(struct context_frame, x29) == 80 && offsetof(struct context_frame, d8_d15) == 96, "aarch64.S");

#else
#error "no assembly switch for this architecture: write contexts/ARCHITECTURE.S and its frame here"
#endif

#endif
