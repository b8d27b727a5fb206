/*
 * Whether what the core keeps is consistent, in builds that check.
 */
#ifndef CATAPULTS_CORE_CHECK_H
#define CATAPULTS_CORE_CHECK_H

#include "core/state.h"

/* Several processors: traps if any of this is not (check.c). The second returns how many donors are blocked. */
#ifdef CATAPULTS_CHECKED
void core_check(struct processor *here);
uint32_t core_check_blocked_donors(struct processor *here);
#else
static inline void core_check(struct processor *here) { (void)here; }
#endif

#endif
