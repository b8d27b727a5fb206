/*
 * Queues and stacks: a singly linked list through the threads themselves. What is taken out of the middle is looked
 * for, and what is counted is counted: of a few dozen threads, for whom a second link and a counter would cost more.
 *
 *   first ──► t ──next──► t ──next──► t ◄── last
 *
 * Threads leave at `first`. A queue takes them in at `last`, a stack at `first`. The last thread's `next` is NULL;
 * `last` is not kept while the list is empty.
 */
#ifndef CATAPULTS_LIST_H
#define CATAPULTS_LIST_H

#include "catapults/policy.h"

struct catapults_list {
    struct catapults_thread *first; /* the next to leave; NULL: empty */
    struct catapults_thread *last;
};

CATAPULTS_INLINE void catapults_list_init(struct catapults_list *list) { list->first = NULL; }

/* Into a queue. `number` is the container's, for catapults_thread.container. The thread is in hand, here and below. */
CATAPULTS_INLINE void catapults_list_append(struct catapults_list *list, struct catapults_thread *t, uint8_t number) {
    t->container = number;
    t->next = NULL;
    if (list->first)
        list->last->next = t;
    else
        list->first = t;
    list->last = t;
}

/* Onto a stack. */
CATAPULTS_INLINE void catapults_list_push(struct catapults_list *list, struct catapults_thread *t, uint8_t number) {
    t->container = number;
    t->next = list->first;
    if (!list->first)
        list->last = t;
    list->first = t;
}

/* The next to leave, which is then in hand. The list is not empty. */
CATAPULTS_INLINE struct catapults_thread *catapults_list_pop(struct catapults_list *list) {
    struct catapults_thread *t = list->first;
    list->first = t->next;
    return t;
}

/* Takes a thread out of the middle; it is in this list. Called rarely, so a host of a few KB keeps one copy of it. */
#ifdef __SDCC
void catapults_list_remove(struct catapults_list *list, struct catapults_thread *t);
catapults_int catapults_list_count(const struct catapults_list *list);
#else
#define CATAPULTS_LONG static inline
#include "catapults/list_long.h"
#endif

#endif
