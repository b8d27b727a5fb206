/*
 * Whether what the core keeps agrees, in builds that look.
 */
#ifndef CATAPULTS_CORE_CHECK_H
#define CATAPULTS_CORE_CHECK_H

#include "core/state.h"

/* Several processors: whether all of this agrees, in builds that look: see check.c. How many donors are blocked. */
#ifdef CATAPULTS_CHECKED
void core_check(struct processor *here);
uint32_t core_check_blocked_donors(struct processor *here);
#else
static inline void core_check(struct processor *here) { (void)here; }
#endif

#endif
