/*
 * The armed timers of a policy are kept alike on all hosts that have them.
 */
#include "../../catapults/timers.h"
