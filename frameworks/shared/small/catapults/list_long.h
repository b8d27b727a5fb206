/*
 * What of list.h is too long to be inlined where every byte counts: such a host has it in files of its own, with
 * CATAPULTS_LONG defined as nothing.
 */
#ifndef CATAPULTS_LIST_LONG_H
#define CATAPULTS_LIST_LONG_H

#include "catapults/list.h"

CATAPULTS_LONG void catapults_list_remove(struct catapults_list *list, struct catapults_thread *t) {
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

CATAPULTS_LONG catapults_int catapults_list_count(const struct catapults_list *list) {
    catapults_int count = 0;
    for (const struct catapults_thread *t = list->first; t; t = t->next)
        count++;
    return count;
}

#endif
