/*
 * A pairing heap through the records that are in it: adding one takes O(1), the first is at hand, taking one out is
 * O(log n) amortised. Needs no memory. The user keeps the first node, and says which of two comes before the other.
 *
 *          first                        child: the first of those below
 *         ╱                             sibling: the next one on the same level
 *      child ──► sibling ──► sibling    previous: the sibling before; of a first child, the one above
 */
#ifndef CATAPULTS_HEAP_H
#define CATAPULTS_HEAP_H

#include <stdbool.h>
#include <stddef.h>

#include "catapults/host_memory.h"

/* The first member of a record, so that a pointer to the one is a pointer to the other. */
struct catapults_heap_node {
    struct catapults_heap_node CATAPULTS_MEMORY *child, *sibling;
    struct catapults_heap_node CATAPULTS_MEMORY *previous; /* of the first node of all neither read nor written here */
};

/* Whether `a` comes before `b`. If neither comes before the other, whichever is first stays first. */
typedef bool catapults_heap_before(const struct catapults_heap_node CATAPULTS_MEMORY *a,
                                   const struct catapults_heap_node CATAPULTS_MEMORY *b);

/* Makes one heap of two, either of which may be empty; neither has siblings. */
CATAPULTS_IN_PLACE struct catapults_heap_node CATAPULTS_MEMORY *
catapults_heap_meld(struct catapults_heap_node CATAPULTS_MEMORY *a, struct catapults_heap_node CATAPULTS_MEMORY *b,
                    catapults_heap_before *before) {
    if (!a)
        return b;
    if (!b)
        return a;
    if (before(b, a)) {
        struct catapults_heap_node CATAPULTS_MEMORY *later = a;
        a = b;
        b = later;
    }
    b->sibling = a->child;
    b->previous = a;
    if (a->child)
        a->child->previous = b;
    a->child = b;
    return a;
}

/* Makes one heap of a list of heaps: pairs from the first to the last, then one of all pairs from the last to the
 * first. */
CATAPULTS_IN_PLACE struct catapults_heap_node CATAPULTS_MEMORY *
catapults_heap_join(struct catapults_heap_node CATAPULTS_MEMORY *heaps, catapults_heap_before *before) {
    struct catapults_heap_node CATAPULTS_MEMORY *pairs = NULL, *whole = NULL;
    while (CATAPULTS_LOOP(heaps)) {
        struct catapults_heap_node CATAPULTS_MEMORY *one = heaps, *other = one->sibling;
        heaps = other ? other->sibling : NULL;
        one->sibling = NULL;
        if (other)
            other->sibling = NULL;
        one = catapults_heap_meld(one, other, before);
        one->sibling = pairs;
        pairs = one;
    }
    while (CATAPULTS_LOOP(pairs)) {
        struct catapults_heap_node CATAPULTS_MEMORY *rest = pairs->sibling;
        pairs->sibling = NULL;
        whole = catapults_heap_meld(pairs, whole, before);
        pairs = rest;
    }
    return whole;
}

/* Adds a node to the heap that begins with `first` (NULL: it is empty). Returns the first node. */
CATAPULTS_IN_PLACE struct catapults_heap_node CATAPULTS_MEMORY *
catapults_heap_add(struct catapults_heap_node CATAPULTS_MEMORY *first,
                   struct catapults_heap_node CATAPULTS_MEMORY *node, catapults_heap_before *before) {
    node->child = NULL;
    node->sibling = NULL;
    return catapults_heap_meld(first, node, before);
}

/* Takes a node out of the heap that begins with `first`. Returns the first node. */
CATAPULTS_IN_PLACE struct catapults_heap_node CATAPULTS_MEMORY *
catapults_heap_remove(struct catapults_heap_node CATAPULTS_MEMORY *first,
                      struct catapults_heap_node CATAPULTS_MEMORY *node, catapults_heap_before *before) {
    struct catapults_heap_node CATAPULTS_MEMORY *below = catapults_heap_join(node->child, before);
    if (node == first)
        return below;
    if (node->previous->child == node)
        node->previous->child = node->sibling;
    else
        node->previous->sibling = node->sibling;
    if (node->sibling)
        node->sibling->previous = node->previous;
    return catapults_heap_meld(first, below, before);
}

#endif
