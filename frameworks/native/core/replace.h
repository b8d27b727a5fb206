/*
 * Another policy in the place of one.
 */
#ifndef CATAPULTS_CORE_REPLACE_H
#define CATAPULTS_CORE_REPLACE_H

#include "core/state.h"

/* As in dispatcher/dispatcher.h. */
bool core_has_room(struct processor *here, const struct scheduler *scheduler, const struct catapults_policy *policy,
                   unsigned long *parts);
const struct catapults_stop *core_replace(struct processor *here, struct scheduler *scheduler,
                                          const struct catapults_policy *policy, void *instance, void *const *nodes,
                                          void *parts);

#endif
