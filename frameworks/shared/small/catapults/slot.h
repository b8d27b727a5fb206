/*
 * A threadref: a pointer to the one thread in it, or NULL.
 */
#ifndef CATAPULTS_SLOT_H
#define CATAPULTS_SLOT_H

#include "catapults/policy.h"

/* The slot is empty. `number` is its own, for catapults_thread.container. */
CATAPULTS_INLINE void catapults_slot_put(struct catapults_thread **slot, struct catapults_thread *t, uint8_t number) {
    t->container = number;
    *slot = t;
}

/* Takes the thread out, which is then in hand. The slot is not empty. */
CATAPULTS_INLINE struct catapults_thread *catapults_slot_take(struct catapults_thread **slot) {
    struct catapults_thread *t = *slot;
    *slot = NULL;
    return t;
}

/* 1 or 0. */
CATAPULTS_INLINE catapults_int catapults_slot_count(const struct catapults_thread *slot) { return slot ? 1 : 0; }

#endif
