/*
 * Instants that threads wait for: a heap (catapults/heap.h) through the threads' records.
 */
#ifndef CATAPULTS_CORE_TIMER_H
#define CATAPULTS_CORE_TIMER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "catapults/heap.h"

struct timer {
    struct catapults_heap_node node; /* its `previous` is itself at the root; NULL: not set */
    int64_t instant;                 /* nanoseconds of the host's clock */
};

static inline void timer_init(struct timer *timer) { timer->node.previous = NULL; }

/* Sets a timer that is not set. `root` is the heap, NULL when empty. */
void timer_set(struct timer **root, struct timer *timer, int64_t instant);

/* Takes out a timer that is set. */
void timer_cancel(struct timer **root, struct timer *timer);

static inline bool timer_is_set(const struct timer *timer) { return timer->node.previous != NULL; }

#endif
