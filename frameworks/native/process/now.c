/*
 * The clock.
 */
#include <time.h>

#include "catapults.h"

enum { SECOND = 1000000000 };

int64_t catapults_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now); /* every Linux has it */
    return now.tv_sec * (int64_t)SECOND + now.tv_nsec;
}
