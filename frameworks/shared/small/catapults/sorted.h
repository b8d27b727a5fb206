/*
 * Sorted containers (pqueue, pstack): a singly linked list in the order in which threads leave. Of equal keys, the
 * oldest leaves a pqueue first (CATAPULTS_FIFO) and the youngest a pstack (CATAPULTS_LIFO). For a few dozen threads a
 * tree would cost more than it saves.
 *
 * `sorted` is the address of an object. `order` is a function's name: below 0, its first thread leaves before its
 * second; 0, equal keys; above 0, after. What calls it is a macro, because not every compiler makes a direct call of a
 * function that is passed to an inlined one.
 */
#ifndef CATAPULTS_SORTED_H
#define CATAPULTS_SORTED_H

#include "catapults/policy.h"

#define CATAPULTS_FIFO 0
#define CATAPULTS_LIFO 1

struct catapults_sorted {
    struct catapults_thread *first; /* the next to leave; NULL: empty */
};

CATAPULTS_INLINE void catapults_sorted_init(struct catapults_sorted *sorted) { sorted->first = NULL; }

/* `number` is the container's, for catapults_thread.container. The thread is in hand. */
#define catapults_sorted_insert(sorted, thread, number, order, ties)                                                   \
    do {                                                                                                               \
        struct catapults_thread *catapults_filed = (thread), **catapults_link = &(sorted)->first;                      \
        while (*catapults_link != NULL && order(catapults_filed, *catapults_link) >= (ties))                           \
            catapults_link = &(*catapults_link)->next;                                                                 \
        catapults_filed->container = (number);                                                                         \
        catapults_filed->next = *catapults_link;                                                                       \
        *catapults_link = catapults_filed;                                                                             \
    } while (0)

/* Takes out a thread that is in this container. Compares nothing, so its keys may have changed already. */
CATAPULTS_INLINE void catapults_sorted_remove(struct catapults_sorted *sorted, struct catapults_thread *t) {
    struct catapults_thread **link = &sorted->first;
    while (*link != t) /* at most n - 1 turns */
        link = &(*link)->next;
    *link = t->next;
}

/* A key of a thread in this container has been assigned: files it anew, as the youngest of its run. */
#define catapults_sorted_refile(sorted, thread, number, order, ties)                                                   \
    do {                                                                                                               \
        catapults_sorted_remove(sorted, thread);                                                                       \
        catapults_sorted_insert(sorted, thread, number, order, ties);                                                  \
    } while (0)

/* The next to leave; NULL: the container is empty. */
#define catapults_sorted_first(sorted, ties) ((sorted)->first)

/* Takes out the next to leave, which is then in hand. The container is not empty. */
CATAPULTS_INLINE struct catapults_thread *catapults_sorted_take(struct catapults_sorted *sorted) {
    struct catapults_thread *t = sorted->first;
    sorted->first = t->next;
    return t;
}
#define catapults_sorted_pop(sorted, ties) catapults_sorted_take(sorted)

/* The thread that leaves after `t`, which is in this container; or NULL. */
#define catapults_sorted_next(sorted, t, ties) ((t)->next)

/* Chains all threads through `walk` as they leave, for a visitor that moves them. Returns the first. */
CATAPULTS_INLINE struct catapults_thread *catapults_sorted_chain(struct catapults_sorted *sorted) {
    for (struct catapults_thread *t = sorted->first; t; t = t->next) /* at most n turns */
        t->walk = t->next;
    return sorted->first;
}
#define catapults_sorted_walk(sorted, ties) catapults_sorted_chain(sorted)

CATAPULTS_INLINE catapults_int catapults_sorted_count(const struct catapults_sorted *sorted) {
    catapults_int count = 0;
    for (const struct catapults_thread *t = sorted->first; t; t = t->next) /* at most n turns */
        count++;
    return count;
}

#endif
