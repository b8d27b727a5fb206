/*
 * Instants that threads wait for: a pairing heap through the threads' records. Setting a timer takes O(1), the earliest
 * is at hand, taking one out is O(log n) amortised. Needs no memory.
 */
#ifndef CATAPULTS_TIMER_H
#define CATAPULTS_TIMER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct timer {
    int64_t instant; /* nanoseconds of the host's clock */
    struct timer *child;
    struct timer *sibling;
    struct timer *previous; /* the sibling before, or the parent of a first child; itself at the root; NULL: not set */
};

/* Sets a timer that is not set. `root` is the heap, NULL when empty. */
void timer_set(struct timer **root, struct timer *timer, int64_t instant);

/* Takes out a timer that is set. */
void timer_cancel(struct timer **root, struct timer *timer);

static inline bool timer_is_set(const struct timer *timer) { return timer->previous != NULL; }

#endif
