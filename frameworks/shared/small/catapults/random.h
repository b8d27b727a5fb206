/*
 * What `random(n)` of the policy language draws: the numbers of ../../catapults/random.h, which explains them, with
 * arithmetic that is no wider than it must be.
 */
#ifndef CATAPULTS_RANDOM_H
#define CATAPULTS_RANDOM_H

#include "catapults/policy.h"

struct catapults_random {
    uint32_t state[2]; /* never both 0 */
};

/* Where no other is given. */
#define CATAPULTS_RANDOM_SEED 1

CATAPULTS_INLINE uint32_t catapults_random_mixed(uint32_t bits) {
    bits += 0x9E3779B9ul;
    bits = (bits ^ bits >> 16) * 0x85EBCA6Bul;
    bits = (bits ^ bits >> 13) * 0xC2B2AE35ul;
    return bits ^ bits >> 16;
}

CATAPULTS_INLINE void catapults_random_seed(struct catapults_random *random, uint32_t seed) {
    uint32_t low = catapults_random_mixed(seed);
    uint32_t high = catapults_random_mixed(low);
    random->state[0] = low;
    random->state[1] = low || high ? high : 1;
}

CATAPULTS_INLINE uint32_t catapults_random_next(struct catapults_random *random) {
    uint32_t one = random->state[0], both = one ^ random->state[1];
    random->state[0] = (one << 26 | one >> 6) ^ both ^ both << 9;
    random->state[1] = both << 13 | both >> 19;
    return (uint32_t)(one * 0x9E3779BBul);
}

CATAPULTS_INLINE catapults_int catapults_random(struct catapults_random *random, catapults_int below) {
    uint32_t high;
    if (below <= 1)
        return 0;
    high = catapults_random_next(random);
#if defined(CATAPULTS_INT_BITS) && CATAPULTS_INT_BITS == 32
    if (below > 65536) {
        uint32_t low = catapults_random_next(random);
        uint64_t rest = (uint64_t)low * (uint32_t)below >> 32;
        return (catapults_int)(((uint64_t)high * (uint32_t)below + rest) >> 32);
    }
#endif
    /* `below` has 16 bits: so has each digit of the product. */
    return (catapults_int)(((high >> 16) * (uint32_t)below + ((high & 0xFFFFu) * (uint32_t)below >> 16)) >> 16);
}

#endif
