/*
 * Sorted containers (pqueue, pstack): a red-black tree of runs. A run is a ring of threads with equal keys; the oldest
 * of them stands for it in the tree. So threads of few distinct keys come and go without a change of the tree.
 *
 *     front ──► head ⇄ t ⇄ (back to head)      a run: next leads to younger threads, previous to older ones
 *
 *                 head                           a node of the tree: parent, left, right, color
 *                ╱    ╲
 *             head    head ⇄ t ⇄ t ⇄ (back)
 *              ▲
 *              └── leftmost, kept at hand
 *
 * The run that leaves next is `front`, if there is one: a run outside the tree that comes before all others. Else it is
 * the leftmost of the tree. So a thread that comes back and is still the best does not change the tree, whatever its
 * key. From a run, a pqueue takes the oldest thread (CATAPULTS_FIFO) and a pstack the youngest (CATAPULTS_LIFO).
 *
 * Insertion: O(1) into the run that leaves next, or before it while there is no front; else O(log n) of distinct keys.
 * Removal of a thread that is in front or not alone in its run: O(1). `order` and `ties` are constants where this is
 * used, and inlined.
 */
#ifndef CATAPULTS_SORTED_H
#define CATAPULTS_SORTED_H

#include <stdbool.h>

#include "catapults/policy.h"

enum {
    CATAPULTS_RED,   /* a head: in front, or a red node */
    CATAPULTS_BLACK, /* a head, and a black node */
    CATAPULTS_MEMBER /* not a head: in no node */
};

/* Which thread of a run leaves first. */
enum catapults_ties { CATAPULTS_FIFO, CATAPULTS_LIFO };

struct catapults_sorted {
    struct catapults_thread CATAPULTS_MEMORY *front; /* head of the run that leaves before all of the tree, or NULL */
    struct catapults_thread CATAPULTS_MEMORY *root;  /* NULL: the tree is empty */
    struct catapults_thread CATAPULTS_MEMORY *leftmost; /* head of the run of the tree that leaves first, or NULL */
    catapults_int count;                                /* of threads */
};

/* Below 0: `a` leaves before `b`; 0: equal keys; above 0: after. */
typedef int catapults_order(const struct catapults_thread CATAPULTS_MEMORY *a,
                            const struct catapults_thread CATAPULTS_MEMORY *b);

static inline void catapults_sorted_init(struct catapults_sorted CATAPULTS_MEMORY *sorted) {
    sorted->front = NULL;
    sorted->root = NULL;
    sorted->leftmost = NULL;
    sorted->count = 0;
}

/* ---- The tree: its nodes are heads ------------------------------------------------------------------------------- */

/* Puts `with` (or nothing) in the place of `node`. */
static inline void catapults_tree_replace(struct catapults_sorted CATAPULTS_MEMORY *sorted,
                                          const struct catapults_thread CATAPULTS_MEMORY *node,
                                          struct catapults_thread CATAPULTS_MEMORY *with) {
    struct catapults_thread CATAPULTS_MEMORY *parent = node->parent;
    if (!parent)
        sorted->root = with;
    else if (parent->left == node)
        parent->left = with;
    else
        parent->right = with;
    if (with)
        with->parent = parent;
}

/*
 *     node                pivot
 *    ╱    ╲              ╱     ╲
 *   a    pivot   ──►   node     c
 *        ╱   ╲        ╱    ╲
 *       b     c      a      b
 */
CATAPULTS_CALLED void catapults_tree_rotate_left(struct catapults_sorted CATAPULTS_MEMORY *sorted,
                                                 struct catapults_thread CATAPULTS_MEMORY *node) {
    struct catapults_thread CATAPULTS_MEMORY *pivot = node->right;
    node->right = pivot->left;
    if (node->right)
        node->right->parent = node;
    catapults_tree_replace(sorted, node, pivot);
    pivot->left = node;
    node->parent = pivot;
}

/* The mirror image. */
CATAPULTS_CALLED void catapults_tree_rotate_right(struct catapults_sorted CATAPULTS_MEMORY *sorted,
                                                  struct catapults_thread CATAPULTS_MEMORY *node) {
    struct catapults_thread CATAPULTS_MEMORY *pivot = node->left;
    node->left = pivot->right;
    if (node->left)
        node->left->parent = node;
    catapults_tree_replace(sorted, node, pivot);
    pivot->right = node;
    node->parent = pivot;
}

/* `node` is new, red, and hangs in its place: no red node may have a red parent. */
CATAPULTS_CALLED void catapults_tree_inserted(struct catapults_sorted CATAPULTS_MEMORY *sorted,
                                              struct catapults_thread CATAPULTS_MEMORY *node) {
    struct catapults_thread CATAPULTS_MEMORY *parent;
    while (CATAPULTS_LOOP((parent = node->parent) && parent->color == CATAPULTS_RED)) {
        struct catapults_thread CATAPULTS_MEMORY *grandparent = parent->parent; /* there is one: the root is black */
        bool left = parent == grandparent->left;
        struct catapults_thread CATAPULTS_MEMORY *uncle = left ? grandparent->right : grandparent->left;
        if (uncle && uncle->color == CATAPULTS_RED) {
            parent->color = CATAPULTS_BLACK;
            uncle->color = CATAPULTS_BLACK;
            grandparent->color = CATAPULTS_RED;
            node = grandparent;
            continue;
        }
        if (node == (left ? parent->right : parent->left)) { /* make it an outer grandchild */
            if (left)
                catapults_tree_rotate_left(sorted, parent);
            else
                catapults_tree_rotate_right(sorted, parent);
            parent = node;
        }
        parent->color = CATAPULTS_BLACK;
        grandparent->color = CATAPULTS_RED;
        if (left)
            catapults_tree_rotate_right(sorted, grandparent);
        else
            catapults_tree_rotate_left(sorted, grandparent);
        break;
    }
    sorted->root->color = CATAPULTS_BLACK;
}

/* The paths through `node` (which may be NULL, below `parent`) have one black node too few. */
CATAPULTS_CALLED void catapults_tree_removed(struct catapults_sorted CATAPULTS_MEMORY *sorted,
                                             struct catapults_thread CATAPULTS_MEMORY *node,
                                             struct catapults_thread CATAPULTS_MEMORY *parent) {
    while (CATAPULTS_LOOP(parent && (!node || node->color == CATAPULTS_BLACK))) {
        bool left = node == parent->left;
        struct catapults_thread CATAPULTS_MEMORY *sibling =
            left ? parent->right : parent->left; /* there is one: its paths are longer */
        if (sibling->color == CATAPULTS_RED) {
            sibling->color = CATAPULTS_BLACK;
            parent->color = CATAPULTS_RED;
            if (left)
                catapults_tree_rotate_left(sorted, parent);
            else
                catapults_tree_rotate_right(sorted, parent);
            sibling = left ? parent->right : parent->left;
        }
        struct catapults_thread CATAPULTS_MEMORY *inner = left ? sibling->left : sibling->right;
        struct catapults_thread CATAPULTS_MEMORY *outer = left ? sibling->right : sibling->left;
        bool inner_red = inner && inner->color == CATAPULTS_RED;
        bool outer_red = outer && outer->color == CATAPULTS_RED;
        if (!inner_red && !outer_red) {
            sibling->color = CATAPULTS_RED;
            node = parent;
            parent = node->parent;
            continue;
        }
        if (!outer_red) {
            inner->color = CATAPULTS_BLACK;
            sibling->color = CATAPULTS_RED;
            if (left)
                catapults_tree_rotate_right(sorted, sibling);
            else
                catapults_tree_rotate_left(sorted, sibling);
            outer = sibling;
            sibling = inner;
        }
        sibling->color = parent->color;
        parent->color = CATAPULTS_BLACK;
        outer->color = CATAPULTS_BLACK;
        if (left)
            catapults_tree_rotate_left(sorted, parent);
        else
            catapults_tree_rotate_right(sorted, parent);
        node = sorted->root;
        break;
    }
    if (node)
        node->color = CATAPULTS_BLACK;
}

/* `with`, which is in no tree, becomes the node that `node` was. */
CATAPULTS_CALLED void catapults_tree_exchange(struct catapults_sorted CATAPULTS_MEMORY *sorted,
                                              const struct catapults_thread CATAPULTS_MEMORY *node,
                                              struct catapults_thread CATAPULTS_MEMORY *with) {
    catapults_tree_replace(sorted, node, with);
    with->color = node->color;
    with->left = node->left;
    with->right = node->right;
    if (with->left)
        with->left->parent = with;
    if (with->right)
        with->right->parent = with;
}

CATAPULTS_CALLED void catapults_tree_remove(struct catapults_sorted CATAPULTS_MEMORY *sorted,
                                            struct catapults_thread CATAPULTS_MEMORY *node) {
    struct catapults_thread CATAPULTS_MEMORY *child, *parent;
    uint8_t color;
    if (node->left && node->right) { /* its successor, which has no left child, takes its place */
        struct catapults_thread CATAPULTS_MEMORY *successor = node->right;
        while (CATAPULTS_LOOP(successor->left))
            successor = successor->left;
        child = successor->right;
        parent = successor->parent == node ? successor : successor->parent;
        color = successor->color;
        catapults_tree_replace(sorted, successor, child);
        catapults_tree_exchange(sorted, node, successor);
    } else {
        child = node->left ? node->left : node->right;
        parent = node->parent;
        color = node->color;
        catapults_tree_replace(sorted, node, child);
    }
    if (color == CATAPULTS_BLACK)
        catapults_tree_removed(sorted, child, CATAPULTS_FORGOTTEN(parent));
}

/* The node after `node`, or NULL. */
CATAPULTS_CALLED struct catapults_thread CATAPULTS_MEMORY *catapults_tree_successor(const struct catapults_thread
                                                                                    CATAPULTS_MEMORY *node) {
    struct catapults_thread CATAPULTS_MEMORY *next;
    if (node->right) {
        for (next = node->right; CATAPULTS_LOOP(next->left);)
            next = next->left;
        return next;
    }
    for (next = node->parent; CATAPULTS_LOOP(next && node == next->right); next = next->parent)
        node = next;
    return next;
}

/* ---- The container ----------------------------------------------------------------------------------------------- */

/* The head of the run that leaves next; NULL: the container is empty. */
static inline struct catapults_thread CATAPULTS_MEMORY *catapults_sorted_head(const struct catapults_sorted
                                                                              CATAPULTS_MEMORY *sorted) {
    return sorted->front ? sorted->front : sorted->leftmost;
}

/* A single thread becomes a node below `parent`, at `link`. */
CATAPULTS_CALLED void catapults_sorted_hang(struct catapults_sorted CATAPULTS_MEMORY *sorted,
                                            struct catapults_thread CATAPULTS_MEMORY *head,
                                            struct catapults_thread CATAPULTS_MEMORY *parent,
                                            struct catapults_thread CATAPULTS_MEMORY *CATAPULTS_MEMORY *link) {
    head->color = CATAPULTS_RED;
    head->parent = parent;
    head->left = NULL;
    head->right = NULL;
    *link = head;
    catapults_tree_inserted(sorted, head);
}

/* The run of `head` comes before all that are in the tree. */
CATAPULTS_CALLED void catapults_sorted_hang_leftmost(struct catapults_sorted CATAPULTS_MEMORY *sorted,
                                                     struct catapults_thread CATAPULTS_MEMORY *head) {
    struct catapults_thread CATAPULTS_MEMORY *parent = sorted->leftmost;
    sorted->leftmost = head;
    catapults_sorted_hang(sorted, head, parent, parent ? &parent->left : &sorted->root);
}

/* `number` is the container's, for catapults_thread.container. The thread is in hand. */
static inline __attribute__((always_inline)) void catapults_sorted_insert(struct catapults_sorted
                                                                          CATAPULTS_MEMORY *sorted,
                                                                          struct catapults_thread CATAPULTS_MEMORY *t,
                                                                          uint16_t number, catapults_order *order) {
    struct catapults_thread CATAPULTS_MEMORY *head = catapults_sorted_head(sorted),
                                             *parent = NULL, *CATAPULTS_MEMORY *link = &sorted->root;
    t->container = number;
    sorted->count++;
    int side = head ? order(t, head) : -1;
    if (side < 0) { /* before all others */
        if (sorted->front)
            catapults_sorted_hang_leftmost(sorted, sorted->front);
        sorted->front = t;
        t->color = CATAPULTS_RED;
        t->next = t;
        t->previous = t;
        return;
    }
    if (side > 0) {
        bool left = true; /* of all nodes so far */
        for (head = sorted->root; CATAPULTS_LOOP(head); head = *link) {
            side = order(t, head);
            if (side == 0)
                break;
            parent = head;
            link = side < 0 ? &head->left : &head->right;
            left = left && side < 0;
        }
        if (!head) {
            t->next = t;
            t->previous = t;
            if (left)
                sorted->leftmost = t;
            catapults_sorted_hang(sorted, t, parent, link);
            return;
        }
    }
    t->color = CATAPULTS_MEMBER;
    t->previous = head->previous;
    t->next = head;
    head->previous->next = t;
    head->previous = t;
}

/* Takes out a thread that is in this container. Compares nothing, so its keys may have changed already. */
CATAPULTS_CALLED void catapults_sorted_remove(struct catapults_sorted CATAPULTS_MEMORY *sorted,
                                              struct catapults_thread CATAPULTS_MEMORY *t) {
    struct catapults_thread CATAPULTS_MEMORY *next = t->next;
    sorted->count--;
    if (next == t) { /* alone */
        if (sorted->front == t) {
            sorted->front = NULL;
            return;
        }
        if (sorted->leftmost == t)
            sorted->leftmost = catapults_tree_successor(t);
        catapults_tree_remove(sorted, t);
        return;
    }
    t->previous->next = next;
    next->previous = t->previous;
    if (t->color == CATAPULTS_MEMBER)
        return;
    if (sorted->front == t) {
        next->color = CATAPULTS_RED;
        sorted->front = next;
        return;
    }
    if (sorted->leftmost == t)
        sorted->leftmost = next;
    catapults_tree_exchange(sorted, t, next);
}

/* The next to leave; NULL: the container is empty. */
static inline struct catapults_thread CATAPULTS_MEMORY *
catapults_sorted_first(const struct catapults_sorted CATAPULTS_MEMORY *sorted, enum catapults_ties ties) {
    struct catapults_thread CATAPULTS_MEMORY *head = catapults_sorted_head(sorted);
    return ties == CATAPULTS_LIFO && head ? head->previous : head;
}

/* Takes out the next to leave, which is then in hand. The container is not empty. */
static inline struct catapults_thread CATAPULTS_MEMORY *
catapults_sorted_pop(struct catapults_sorted CATAPULTS_MEMORY *sorted, enum catapults_ties ties) {
    struct catapults_thread CATAPULTS_MEMORY *t = catapults_sorted_first(sorted, ties);
    catapults_sorted_remove(sorted, t);
    return t;
}

/* A key of a thread in this container has been assigned: files it anew, as the youngest of its run. */
static inline __attribute__((always_inline)) void catapults_sorted_refile(struct catapults_sorted
                                                                          CATAPULTS_MEMORY *sorted,
                                                                          struct catapults_thread CATAPULTS_MEMORY *t,
                                                                          uint16_t number, catapults_order *order) {
    catapults_sorted_remove(sorted, t);
    catapults_sorted_insert(sorted, t, number, order);
}

/* The thread that leaves after `t`, which is in this container; or NULL. */
CATAPULTS_CALLED struct catapults_thread CATAPULTS_MEMORY *
catapults_sorted_next(const struct catapults_sorted CATAPULTS_MEMORY *sorted,
                      const struct catapults_thread CATAPULTS_MEMORY *t, enum catapults_ties ties) {
    const struct catapults_thread CATAPULTS_MEMORY *head = t;
    if (ties == CATAPULTS_FIFO)
        head = t->next;
    if (head->color == CATAPULTS_MEMBER)
        return ties == CATAPULTS_FIFO ? t->next : t->previous;
    struct catapults_thread CATAPULTS_MEMORY *next =
        head == sorted->front ? sorted->leftmost : catapults_tree_successor(head);
    return ties == CATAPULTS_LIFO && next ? next->previous : next;
}

/* Chains all threads through `walk` as they leave, for a visitor that moves them. Returns the first. */
CATAPULTS_CALLED struct catapults_thread CATAPULTS_MEMORY *
catapults_sorted_walk(const struct catapults_sorted CATAPULTS_MEMORY *sorted, enum catapults_ties ties) {
    struct catapults_thread CATAPULTS_MEMORY *first = catapults_sorted_first(sorted, ties);
    for (struct catapults_thread CATAPULTS_MEMORY *t = first; CATAPULTS_LOOP(t); t = t->walk)
        t->walk = catapults_sorted_next(sorted, t, ties);
    return first;
}

#endif
