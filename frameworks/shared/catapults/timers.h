/*
 * The armed timers of a policy: a pairing heap through the threads' own records. Arming takes O(1), the next to expire
 * is at hand, taking one out is O(log n) amortised. Needs no memory.
 *
 *          first                        child: the first of those below
 *         ╱                             sibling: the next one on the same level
 *      child ──► sibling ──► sibling    previous: the sibling before; of a first child, the one above
 *
 * Timers expire in the order of their instants; of one instant, in that of the numbers of their threads; of one thread,
 * as the policy declares them. So every host expires them in the same order.
 */
#ifndef CATAPULTS_TIMERS_H
#define CATAPULTS_TIMERS_H

#include <stdbool.h>

#include "catapults/policy.h"

/* A timer of a thread. It is armed, and in the heap, unless its instant is 0. */
struct catapults_timer {
    struct catapults_timer *child, *sibling;
    struct catapults_timer *previous; /* not read of the first of all */
    catapults_time instant;
    struct catapults_thread *thread; /* whose it is */
    uint32_t timeout;                /* what is raised: into catapults_policy.timeouts */
};

struct catapults_timers {
    struct catapults_timer *first; /* the next to expire; NULL: none is armed */
};

static inline void catapults_timers_init(struct catapults_timers *timers) { timers->first = NULL; }

/* Not armed. */
static inline void catapults_timer_init(struct catapults_timer *timer, struct catapults_thread *t, uint32_t timeout) {
    timer->instant = 0;
    timer->thread = t;
    timer->timeout = timeout;
}

/* Whether `a` expires before `b`. */
static inline bool catapults_timer_before(const struct catapults_timer *a, const struct catapults_timer *b) {
    if (a->instant != b->instant)
        return a->instant < b->instant;
    if (a->thread->number != b->thread->number)
        return a->thread->number < b->thread->number;
    return a->timeout < b->timeout;
}

/* One heap of two, neither of which is empty; neither has siblings. */
static inline struct catapults_timer *catapults_timers_meld(struct catapults_timer *a, struct catapults_timer *b) {
    if (catapults_timer_before(b, a)) {
        struct catapults_timer *later = a;
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

/* One heap of a list of heaps: pairs from the first to the last, then all of them from the last to the first. */
static inline struct catapults_timer *catapults_timers_join(struct catapults_timer *heaps) {
    struct catapults_timer *pairs = NULL, *whole = NULL;
    while (heaps) {
        struct catapults_timer *one = heaps, *other = one->sibling;
        heaps = other ? other->sibling : NULL;
        one->sibling = NULL;
        if (other) {
            other->sibling = NULL;
            one = catapults_timers_meld(one, other);
        }
        one->sibling = pairs;
        pairs = one;
    }
    while (pairs) {
        struct catapults_timer *rest = pairs->sibling;
        pairs->sibling = NULL;
        whole = whole ? catapults_timers_meld(pairs, whole) : pairs;
        pairs = rest;
    }
    return whole;
}

/* Takes out a timer that is armed. */
static inline void catapults_timers_disarm(struct catapults_timers *timers, struct catapults_timer *timer) {
    struct catapults_timer *below = catapults_timers_join(timer->child);
    timer->instant = 0;
    if (timer == timers->first) {
        timers->first = below;
        return;
    }
    if (timer->previous->child == timer)
        timer->previous->child = timer->sibling;
    else
        timer->previous->sibling = timer->sibling;
    if (timer->sibling)
        timer->sibling->previous = timer->previous;
    if (below)
        timers->first = catapults_timers_meld(timers->first, below);
}

/* Arms a timer for an instant, whether it is armed or not; 0: it is not armed any more. */
static inline void catapults_timers_set(struct catapults_timers *timers, struct catapults_timer *timer,
                                        catapults_time instant) {
    if (timer->instant != 0)
        catapults_timers_disarm(timers, timer);
    if (instant == 0)
        return;
    timer->instant = instant;
    timer->child = NULL;
    timer->sibling = NULL;
    timers->first = timers->first ? catapults_timers_meld(timers->first, timer) : timer;
}

#endif
