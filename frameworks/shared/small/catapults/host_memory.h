/*
 * Beneath timers.h, alike on all hosts.
 */
#include "../../catapults/host_memory.h"
