/*
 * The registers that a call of the kernel keeps, and a call of a function does not: a thread's, while others run. Of
 * libc's own code these are the low halves: it is compiled for every x86-64, and who calls its functions keeps nothing
 * in the others. Other objects may be compiled for more. Of a thread that is interrupted, the kernel keeps all.
 */
#ifndef CATAPULTS_BENEATH_VECTORS_H
#define CATAPULTS_BENEATH_VECTORS_H

#include <stddef.h>
#include <stdint.h>

struct vectors {
    uint32_t control;  /* of SSE */
    uint16_t rounding; /* and of x87 */
    uint32_t whole;    /* set for code that may keep more than the low halves: all is in `area` */
    _Alignas(16) char registers[16][16];
    _Alignas(64) char area[2560]; /* as the instruction xsavec writes it */
};
_Static_assert(offsetof(struct vectors, rounding) == 4 && offsetof(struct vectors, whole) == 8 &&
                   offsetof(struct vectors, registers) == 16 && offsetof(struct vectors, area) == 320,
               "entry_x86_64.S");

/* In assembly. */
void beneath_vectors_save(struct vectors *to);
void beneath_vectors_load(const struct vectors *from);

/* As in a new process, but for what a thread takes over from the one that makes it. */
static inline void vectors_begin(struct vectors *vectors) {
    vectors->whole = 0;
    __asm__ volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(vectors->control), "=m"(vectors->rounding));
}

#endif
