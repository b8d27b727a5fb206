/*
 * Timers of policies expire.
 */
#ifndef CATAPULTS_CORE_EXPIRY_H
#define CATAPULTS_CORE_EXPIRY_H

#include "core/state.h"

/* More timers of a policy than this do not expire in a row: one that is always armed for the past would never let the
 * threads run. */
enum { MOST_EXPIRED = 64 };

/* Raises the event of the policy's first timer, if its instant has come. Whether it had. */
bool core_expire_one(struct processor *here, struct scheduler *scheduler, int64_t now);

/* The same for the timers of all policies whose instants have come. */
void core_expire_all(struct processor *here, int64_t now);

#endif
