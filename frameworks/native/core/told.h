/*
 * What policies are told of threads, wherever those are.
 */
#ifndef CATAPULTS_CORE_TOLD_H
#define CATAPULTS_CORE_TOLD_H

#include "core/state.h"

/* As in dispatcher/dispatcher.h. */
void core_tell_changed(struct processor *here, struct dispatcher_thread *member);
void core_tell_released(struct processor *here, struct dispatcher_thread *thread);

#endif
