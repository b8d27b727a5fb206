#include "library.h"

void thread_seed(uint32_t seed) {
#ifdef CATAPULTS_RANDOM
    catapults_random_seed(&CATAPULTS_RANDOM, seed);
#else
    (void)seed;
#endif
}
