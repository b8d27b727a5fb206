#include "dispatcher/timer.h"

static struct timer *meld(struct timer *a, struct timer *b);
static struct timer *meld_siblings(struct timer *first);

void timer_set(struct timer **root, struct timer *timer, int64_t instant) {
    *timer = (struct timer){.instant = instant};
    *root = meld(*root, timer);
    (*root)->previous = *root;
}

void timer_cancel(struct timer **root, struct timer *timer) {
    struct timer *children = meld_siblings(timer->child);
    if (timer == *root) {
        *root = children;
    } else {
        if (timer->previous->child == timer)
            timer->previous->child = timer->sibling;
        else
            timer->previous->sibling = timer->sibling;
        if (timer->sibling)
            timer->sibling->previous = timer->previous;
        *root = meld(*root, children);
    }
    if (*root)
        (*root)->previous = *root;
    timer->previous = NULL;
}

/* One heap of two, either of which may be empty. Of equal instants, `a` stays on top. */
static struct timer *meld(struct timer *a, struct timer *b) {
    if (!a)
        return b;
    if (!b)
        return a;
    if (b->instant < a->instant) {
        struct timer *earlier = b;
        b = a;
        a = earlier;
    }
    b->sibling = a->child;
    b->previous = a;
    if (a->child)
        a->child->previous = b;
    a->child = b;
    a->sibling = NULL;
    return a;
}

/* One heap of a list of heaps: pairs from the first to the last, then all of them from the last to the first. */
static struct timer *meld_siblings(struct timer *first) {
    struct timer *pairs = NULL;
    while (first) {
        struct timer *a = first, *b = a->sibling;
        first = b ? b->sibling : NULL;
        a->sibling = NULL;
        if (b)
            b->sibling = NULL;
        a = meld(a, b);
        a->sibling = pairs;
        pairs = a;
    }
    struct timer *whole = NULL;
    while (pairs) {
        struct timer *rest = pairs->sibling;
        pairs->sibling = NULL;
        whole = meld(pairs, whole);
        pairs = rest;
    }
    return whole;
}
