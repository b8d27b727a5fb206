/*
 * The armed timers of a policy: a heap (catapults/heap.h) through the threads' own records.
 *
 * Timers expire in the order of their instants; at one instant, by the numbers of their threads; for one thread, as the
 * policy declares them. So every host expires them in the same order.
 */
#ifndef CATAPULTS_TIMERS_H
#define CATAPULTS_TIMERS_H

#include <stdbool.h>

#include "catapults/heap.h"
#include "catapults/policy.h"

/* A timer of a thread. It is armed, and in the heap, unless its instant is 0. */
struct catapults_timer {
    struct catapults_heap_node node;
    catapults_time instant;
    struct catapults_thread CATAPULTS_MEMORY *thread; /* whose it is */
    uint32_t timeout;                                 /* what is raised: an index into catapults_policy.timeouts */
};

struct catapults_timers {
    struct catapults_timer CATAPULTS_MEMORY *first; /* the next to expire; NULL: none is armed */
};

static inline void catapults_timers_init(struct catapults_timers CATAPULTS_MEMORY *timers) { timers->first = NULL; }

/* Not armed. */
static inline void catapults_timer_init(struct catapults_timer CATAPULTS_MEMORY *timer,
                                        struct catapults_thread CATAPULTS_MEMORY *t, uint32_t timeout) {
    timer->instant = 0;
    timer->thread = t;
    timer->timeout = timeout;
}

/* Whether `one` expires before `other`. */
CATAPULTS_IN_PLACE bool catapults_timer_before(const struct catapults_heap_node CATAPULTS_MEMORY *one,
                                               const struct catapults_heap_node CATAPULTS_MEMORY *other) {
    const struct catapults_timer CATAPULTS_MEMORY *a = (const struct catapults_timer CATAPULTS_MEMORY *)one;
    const struct catapults_timer CATAPULTS_MEMORY *b = (const struct catapults_timer CATAPULTS_MEMORY *)other;
    if (a->instant != b->instant)
        return a->instant < b->instant;
    if (a->thread->number != b->thread->number)
        return a->thread->number < b->thread->number;
    return a->timeout < b->timeout;
}

/* Takes out a timer that is armed. */
CATAPULTS_CALLED void catapults_timers_disarm(struct catapults_timers CATAPULTS_MEMORY *timers,
                                              struct catapults_timer CATAPULTS_MEMORY *timer) {
    timer->instant = 0;
    timers->first = (struct catapults_timer CATAPULTS_MEMORY *)catapults_heap_remove(&timers->first->node, &timer->node,
                                                                                     catapults_timer_before);
}

/* Arms a timer for an instant, whether it is armed or not; 0: disarms it. */
CATAPULTS_CALLED void catapults_timers_set(struct catapults_timers CATAPULTS_MEMORY *timers,
                                           struct catapults_timer CATAPULTS_MEMORY *timer, catapults_time instant) {
    if (timer->instant != 0)
        catapults_timers_disarm(timers, timer);
    if (instant == 0)
        return;
    timer->instant = instant;
    struct catapults_heap_node CATAPULTS_MEMORY *first = timers->first ? &timers->first->node : NULL;
    timers->first =
        (struct catapults_timer CATAPULTS_MEMORY *)catapults_heap_add(first, &timer->node, catapults_timer_before);
}

#endif
