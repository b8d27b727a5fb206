/*
 * All schedulers begin anew, with one thread.
 */
#ifndef CATAPULTS_CORE_RESTART_H
#define CATAPULTS_CORE_RESTART_H

#include "core/state.h"

/* As in dispatcher/dispatcher.h. */
const struct catapults_stop *core_restart(struct processor *here);

#endif
