/*
 * The long functions of list.h. Rabbit has each in a file of its own (frameworks/rabbit/library).
 */
#ifndef CATAPULTS_LIST_LONG_H
#define CATAPULTS_LIST_LONG_H

#include "catapults/policy.h"

/* At the end of a queue. */
CATAPULTS_INLINE void catapults_list_add(struct catapults_list *list, struct catapults_thread *t) {
    t->next = NULL;
    if (list->first)
        list->last->next = t;
    else
        list->first = t;
    list->last = t;
}

/* Takes a thread out of the middle; it is in this list. */
CATAPULTS_INLINE void catapults_list_remove(struct catapults_list *list, struct catapults_thread *t) {
    struct catapults_thread *before = list->first;
    if (t == before) {
        list->first = t->next;
        return;
    }
    while (before->next != t)
        before = before->next;
    before->next = t->next;
    if (t == list->last)
        list->last = before;
}

CATAPULTS_INLINE void catapults_stack_remove(struct catapults_stack *stack, struct catapults_thread *t) {
    struct catapults_thread **link = &stack->first;
    while (*link != t)
        link = &(*link)->next;
    *link = t->next;
}

CATAPULTS_INLINE catapults_int catapults_count(const struct catapults_thread *first) {
    catapults_int count = 0;
    for (const struct catapults_thread *t = first; t; t = t->next)
        count++;
    return count;
}

#endif
