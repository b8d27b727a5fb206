/*
 * Beneath timers.h, alike on all hosts.
 */
#include "../../catapults/heap.h"
