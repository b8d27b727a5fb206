/*
 * The places that hand-written policies have for threads, and their classes.
 */
#ifndef PLACES_H
#define PLACES_H

#include "catapults/policy.h"

enum { IN_CURRENT = 1, IN_READY, IN_WAITING };

#define CLASSES                                                                                                        \
    (const uint8_t[]) {                                                                                                \
        [IN_CURRENT] = CATAPULTS_RUNNING, [IN_READY] = CATAPULTS_READY, [IN_WAITING] = CATAPULTS_BLOCKED               \
    }

#endif
