/*
 * Queues and stacks: singly linked lists through the threads themselves. Taking a thread out of the middle searches for
 * it, and counting walks the list: for a few dozen threads a second link and a counter would cost more.
 *
 *   first ──► t ──next──► t ──next──► t ◄── last
 *
 * Threads leave at `first`. A queue takes them in at `last`, a stack, which has none, at `first`. The last thread's
 * `next` is NULL; `last` is not kept while the queue is empty.
 */
#ifndef CATAPULTS_LIST_H
#define CATAPULTS_LIST_H

#include "catapults/policy.h"

struct catapults_list {
    struct catapults_thread *first; /* the next to leave; NULL: empty */
    struct catapults_thread *last;
};

struct catapults_stack {
    struct catapults_thread *first;
};

/* Functions that are called rarely or are long; a host of a few KB keeps one copy of each. */
#ifdef __SDCC
void catapults_list_add(struct catapults_list *list, struct catapults_thread *t);
void catapults_list_remove(struct catapults_list *list, struct catapults_thread *t);
void catapults_stack_remove(struct catapults_stack *stack, struct catapults_thread *t);
catapults_int catapults_count(const struct catapults_thread *first);
#else
#include "catapults/list_long.h"
#endif

CATAPULTS_INLINE void catapults_list_init(struct catapults_list *list) { list->first = NULL; }

/* Into a queue. `number` is the container's, for catapults_thread.container. The thread is in hand, here and below. */
CATAPULTS_INLINE void catapults_list_append(struct catapults_list *list, struct catapults_thread *t, uint8_t number) {
    t->container = number;
    catapults_list_add(list, t);
}

/* The same without a call, where it is done often. */
CATAPULTS_INLINE void catapults_list_append_here(struct catapults_list *list, struct catapults_thread *t,
                                                 uint8_t number) {
    t->container = number;
    t->next = NULL;
    if (list->first)
        list->last->next = t;
    else
        list->first = t;
    list->last = t;
}

/* Takes out the next to leave, which is then in hand. The list is not empty. */
CATAPULTS_INLINE struct catapults_thread *catapults_list_pop(struct catapults_list *list) {
    struct catapults_thread *t = list->first;
    list->first = t->next;
    return t;
}

CATAPULTS_INLINE void catapults_stack_init(struct catapults_stack *stack) { stack->first = NULL; }

CATAPULTS_INLINE void catapults_stack_push(struct catapults_stack *stack, struct catapults_thread *t, uint8_t number) {
    t->container = number;
    t->next = stack->first;
    stack->first = t;
}

CATAPULTS_INLINE struct catapults_thread *catapults_stack_pop(struct catapults_stack *stack) {
    struct catapults_thread *t = stack->first;
    stack->first = t->next;
    return t;
}

#define catapults_list_count(list) catapults_count((list)->first)
#define catapults_stack_count(stack) catapults_count((stack)->first)

#endif
