/* What random programs ask of the runtime, and where they take their numbers from. */
#ifndef CATAPULTS_STRESS_REQUIRE_H
#define CATAPULTS_STRESS_REQUIRE_H

#include <stdint.h>

#define require(condition)                                                                                             \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            not_so(__FILE__, __LINE__, #condition);                                                                    \
    } while (0)
/* Ends the program. */
void not_so(const char *file, int line, const char *condition);

static inline uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

#endif
