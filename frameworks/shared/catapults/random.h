/*
 * What `random(n)` of the policy language draws: the same numbers on every host and in the interpreter
 * (compiler/src/interp/random.rs), so that decisions can be compared and repeated.
 *
 * The generator is xoroshiro64* (D. Blackman, S. Vigna: Scrambled linear pseudorandom number generators, 2018). It has
 * 64 bits of state, in words that a small processor can handle, and the sequence of every seed has 2^64 - 1 numbers. It
 * is not for secrets: a few draws tell the next ones.
 */
#ifndef CATAPULTS_RANDOM_H
#define CATAPULTS_RANDOM_H

#include <stdint.h>

#include "catapults/host_memory.h"

struct catapults_random {
    uint32_t state[2]; /* never both 0 */
};

/* Where no other is given. */
#define CATAPULTS_RANDOM_SEED 1

/* Neighbouring seeds have nothing in common after this. */
static inline uint32_t catapults_random_mixed(uint32_t bits) {
    bits += 0x9E3779B9u;
    bits = (bits ^ bits >> 16) * 0x85EBCA6Bu;
    bits = (bits ^ bits >> 13) * 0xC2B2AE35u;
    return bits ^ bits >> 16;
}

/* Begins the sequence of a seed. */
static inline void catapults_random_seed(struct catapults_random CATAPULTS_MEMORY *random, uint64_t seed) {
    uint32_t low = catapults_random_mixed((uint32_t)seed);
    uint32_t high = catapults_random_mixed((uint32_t)(seed >> 32) ^ low);
    random->state[0] = low;
    random->state[1] = low || high ? high : 1;
}

static inline uint32_t catapults_random_next(struct catapults_random CATAPULTS_MEMORY *random) {
    uint32_t one = random->state[0], both = one ^ random->state[1];
    random->state[0] = (one << 26 | one >> 6) ^ both ^ both << 9;
    random->state[1] = both << 13 | both >> 19;
    return one * 0x9E3779BBu;
}

/*
 * A number from 0 to below `below`, each as likely as the others; 0 if there is none. It is the whole part of `below`
 * times a fraction of 32 bits, or of 64 where 32 would make some numbers noticeably likelier. It does not draw again
 * until a number fits, so a handler takes no longer than it must.
 */
static inline int64_t catapults_random(struct catapults_random CATAPULTS_MEMORY *random, int64_t below) {
    if (below <= 1)
        return 0;
    uint64_t high = catapults_random_next(random);
    if (below <= 65536)
        return (int64_t)(high * (uint64_t)below >> 32);
    uint64_t low = catapults_random_next(random);
    uint64_t upper = (uint64_t)below >> 32, lower = (uint64_t)below & UINT32_MAX;
    uint64_t middle = high * lower + (low * lower >> 32);
    uint64_t other = low * upper + (middle & UINT32_MAX);
    return (int64_t)(high * upper + (middle >> 32) + (other >> 32));
}

#endif
