/*
 * Stacks, each with a guard page below it, cut from large mappings and recycled. The one given back last is given out
 * next, because its pages are in the caches.
 *
 *      lower addresses                                                                higher
 *      │ guard page │ free ...  ◄── frames grow down │ the owner's record │ struct stack │ colour │
 *                   └ stack_lowest                                        └ what stack_take returns
 *
 * A stack's size is a power of two, and the guard page. It grows on demand: pages that are never touched cost no
 * memory, and an idle thread has touched one. The colour is a gap of a different size on neighbouring stacks. Without
 * it the hot ends of all stacks would compete for the same few lines of the caches. It is at most half a page, so that
 * what an idle thread has on its stack fits below it.
 *
 * A stack that is given back keeps its pages while no more stacks of its size are idle than are in use, or 64 MiB of
 * them. Beyond that pages go back to the kernel, in batches, when there is time for it (stack_cool): a third of a
 * microsecond each, for which the end of a thread must not wait. Addresses and guards stay.
 */
#ifndef CATAPULTS_STACK_H
#define CATAPULTS_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stack {
    struct stack *next; /* while it is not in use: the one that was given back before */
    struct stack_pool *pool;
    char *base;    /* where its memory begins: the guard page */
    char *lowest;  /* above the guard page */
    size_t size;   /* of its memory above that, a power of two */
    uint64_t name; /* what its owners hand on from one to the next; STACK_UNNAMED: none has */
    void *fiber;   /* ThreadSanitizer's */
};

#define STACK_UNNAMED UINT64_MAX

struct cold_stack {
    char *base;
    uint64_t name;
};

/* The stacks of one size. */
struct stack_pool {
    struct stack *idle; /* those that keep their pages */
    size_t in_use, idle_count;
    struct cold_stack *cold; /* idle stacks without pages */
    size_t cold_count, cold_room;
    char *fresh, *end; /* the part of the last slab that has not been cut yet */
    bool guarded;      /* all stacks of that slab have their guards */
};

/* The pool of stacks of at least `size` bytes beside the guard page; NULL: there are none so large. */
struct stack_pool *stack_pool(size_t size);

/* A stack that has no pages yet, and so is not at hand; NULL: no memory. */
struct stack *stack_warm(struct stack_pool *pool);

/* There may be more idle stacks than may keep their pages. */
extern bool stack_excess;

/* If so, gives the pages of a batch of them back to the kernel. False: there are not, and `stack_excess` is false. */
bool stack_cool(void);

/* A stack; NULL: no memory. Its owner may use everything below the result. */
static inline struct stack *stack_take_from(struct stack_pool *pool) {
    struct stack *stack = pool->idle;
    if (__builtin_expect(!stack, 0))
        return stack_warm(pool);
    pool->idle = stack->next;
    pool->idle_count--;
    pool->in_use++;
    return stack;
}

static inline struct stack *stack_take(size_t size) {
    struct stack_pool *pool = stack_pool(size);
    return pool ? stack_take_from(pool) : NULL;
}

enum { STACK_BATCH = 64 }; /* stacks per system call */

/* Gives it back. The caller may still be running on it, if it takes no stack before it has left. */
static inline void stack_give(struct stack *stack) {
    struct stack_pool *pool = stack->pool;
    stack->next = pool->idle;
    pool->idle = stack;
    pool->in_use--;
    if (__builtin_expect(++pool->idle_count >= pool->in_use + STACK_BATCH, 0))
        stack_excess = true;
}

/* Bytes between the guard page and `stack`. */
static inline size_t stack_room(const struct stack *stack) { return (size_t)((const char *)stack - stack->lowest); }

#endif
