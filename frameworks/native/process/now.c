/*
 * The clock.
 */
#include "catapults.h"
#include "contexts/kernel_clock.h"

int64_t catapults_now(void) { return clock_now(); }
