#include "core/state.h"

static bool before(const struct catapults_heap_node *a, const struct catapults_heap_node *b) {
    return ((const struct timer *)a)->instant < ((const struct timer *)b)->instant;
}

static void begin_with(struct timer **root, struct catapults_heap_node *first) {
    *root = (struct timer *)first;
    if (first)
        first->previous = first;
}

void timer_set(struct timer **root, struct timer *timer, int64_t instant) {
    timer->instant = instant;
    begin_with(root, catapults_heap_add(*root ? &(*root)->node : NULL, &timer->node, before));
}

void timer_cancel(struct timer **root, struct timer *timer) {
    begin_with(root, catapults_heap_remove(&(*root)->node, &timer->node, before));
    timer->node.previous = NULL;
}
