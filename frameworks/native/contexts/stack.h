/*
 * Stacks, each with a guard page below it, cut from large mappings and recycled: the one given back last is the next
 * given out, for its pages are in the caches.
 *
 *      lower addresses                                                                higher
 *      │ guard page │ free ...  ◄── frames grow down │ the owner's record │ struct stack │ colour │
 *                   └ stack_lowest                                        └ what stack_take returns
 *
 * A stack's size is a power of two, guard page included. It grows on demand: pages that are never touched cost no
 * memory, and an idle thread has touched one. The colour is a gap of a different size on stacks that are neighbours:
 * without it the hot ends of all stacks would compete for the same few lines of the caches. It is at most half a page,
 * so that what an idle thread has on its stack fits below it.
 *
 * What is given back keeps its pages while no more stacks of its size are idle than are in use, or 64 MiB of them.
 * Beyond that pages go back to the kernel at once, in batches; addresses and guards stay.
 */
#ifndef CATAPULTS_STACK_H
#define CATAPULTS_STACK_H

#include <stddef.h>

struct stack {
    struct stack *next; /* while it is not in use: the one that was given back before */
    char *base;         /* of its memory: the guard page */
    char *lowest;       /* above the guard page */
    size_t size;        /* of its memory, a power of two */
    void *fiber;        /* ThreadSanitizer's */
};

/* A stack of at least `size` bytes, guard page included; NULL: no memory. Its owner may use everything below the
 * result. */
struct stack *stack_take(size_t size);

/* Gives it back. The caller may be running on it still, so long as it takes no stack before it has left. */
void stack_give(struct stack *stack);

/* Bytes between the guard page and `stack`. */
static inline size_t stack_room(const struct stack *stack) { return (size_t)((const char *)stack - stack->lowest); }

#endif
