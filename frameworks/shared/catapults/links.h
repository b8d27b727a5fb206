/*
 * Links from a thread to another, which the `thread` section of a policy declares (`threadref owner;`).
 *
 *     t.owner.to ──► u        u.linked ──► t.owner ──next──► v.owner ──next──► NULL
 *
 * A thread's record has the list of all links to it. So a thread that ends ends them without looking for them.
 */
#ifndef CATAPULTS_LINKS_H
#define CATAPULTS_LINKS_H

#include "catapults/policy.h"

struct catapults_link {
    struct catapults_thread CATAPULTS_MEMORY *to; /* NULL: none, and then the others mean nothing */
    struct catapults_link CATAPULTS_MEMORY *next; /* among the links to the same thread; NULL: the last */
    /* What points to this one: `next` of the one before it, or the thread's `linked`. */
    struct catapults_link CATAPULTS_MEMORY *CATAPULTS_MEMORY *from;
};

/* From now on the link names `to`, or no thread (NULL). `linked`: that of `to`. */
CATAPULTS_CALLED void catapults_link_set(struct catapults_link CATAPULTS_MEMORY *link,
                                         struct catapults_thread CATAPULTS_MEMORY *to,
                                         struct catapults_link CATAPULTS_MEMORY *CATAPULTS_MEMORY *linked) {
    if (link->to) {
        *link->from = link->next;
        if (link->next)
            link->next->from = link->from;
    }
    link->to = to;
    if (!to)
        return;
    link->next = *linked;
    link->from = linked;
    if (link->next)
        link->next->from = &link->next;
    *linked = link;
}

/* No link names the thread any more whose `linked` this is. */
CATAPULTS_CALLED void catapults_links_end(struct catapults_link CATAPULTS_MEMORY *CATAPULTS_MEMORY *linked) {
    while (CATAPULTS_LOOP(*linked))
        catapults_link_set(*linked, NULL, NULL);
}

#endif
