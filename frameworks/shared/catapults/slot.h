/*
 * A threadref: a pointer to the one thread in it, or NULL.
 */
#ifndef CATAPULTS_SLOT_H
#define CATAPULTS_SLOT_H

#include "catapults/policy.h"

/* The slot is empty. `number` is its own, for catapults_thread.container. */
static inline void catapults_slot_put(struct catapults_thread CATAPULTS_MEMORY *CATAPULTS_MEMORY *slot,
                                      struct catapults_thread CATAPULTS_MEMORY *t, uint16_t number) {
    t->container = number;
    *slot = t;
}

/* Takes the thread out, which is then in hand. The slot is not empty. */
static inline struct catapults_thread CATAPULTS_MEMORY *catapults_slot_take(struct catapults_thread
                                                                            CATAPULTS_MEMORY *CATAPULTS_MEMORY *slot) {
    struct catapults_thread CATAPULTS_MEMORY *t = *slot;
    *slot = NULL;
    return t;
}

/* 1 or 0. */
static inline catapults_int catapults_slot_count(const struct catapults_thread CATAPULTS_MEMORY *slot) {
    return slot ? 1 : 0;
}

#endif
