/*
 * Queues and stacks: a doubly linked list through the threads themselves, so that moving a thread needs no memory and
 * any thread can be taken out in constant time.
 *
 *   first ──► t ──next──► t ──next──► t ◄── last
 *             ▲──previous─┘◄─previous─┘
 *
 * Threads leave at `first`. A queue takes them in at `last`, a stack at `first`. The last thread's `next` is NULL. The
 * first one's `previous`, and `last` while the list is empty, are never read, and so not kept up to date. This makes a
 * turn of a queue a handful of instructions.
 */
#ifndef CATAPULTS_LIST_H
#define CATAPULTS_LIST_H

#include "catapults/policy.h"

struct catapults_list {
    struct catapults_thread CATAPULTS_MEMORY *first; /* the next to leave; NULL: empty */
    struct catapults_thread CATAPULTS_MEMORY *last;
    catapults_int count;
};

static inline void catapults_list_init(struct catapults_list CATAPULTS_MEMORY *list) {
    list->first = NULL;
    list->last = NULL;
    list->count = 0;
}

/* Into a queue. `number` is the container's, for catapults_thread.container. The thread is in hand, here and below. */
static inline void catapults_list_append(struct catapults_list CATAPULTS_MEMORY *list,
                                         struct catapults_thread CATAPULTS_MEMORY *t, uint16_t number) {
    t->container = number;
    t->previous = list->last;
    if (list->first)
        list->last->next = t;
    else
        list->first = t;
    list->last = t;
    t->next = NULL;
    list->count++;
}

/* Onto a stack. */
static inline void catapults_list_push(struct catapults_list CATAPULTS_MEMORY *list,
                                       struct catapults_thread CATAPULTS_MEMORY *t, uint16_t number) {
    t->container = number;
    t->next = list->first;
    if (list->first)
        list->first->previous = t;
    else
        list->last = t;
    list->first = t;
    list->count++;
}

/* Takes out the next to leave, which is then in hand. The list is not empty. */
static inline struct catapults_thread CATAPULTS_MEMORY *catapults_list_pop(struct catapults_list
                                                                           CATAPULTS_MEMORY *list) {
    struct catapults_thread CATAPULTS_MEMORY *t = list->first;
    list->first = t->next;
    list->count--;
    return t;
}

/* Takes a thread out of the middle; it is in this list. */
static inline void catapults_list_remove(struct catapults_list CATAPULTS_MEMORY *list,
                                         struct catapults_thread CATAPULTS_MEMORY *t) {
    if (t == list->first)
        list->first = t->next;
    else
        t->previous->next = t->next;
    if (t == list->last)
        list->last = t->previous;
    else
        t->next->previous = t->previous;
    list->count--;
}

#endif
