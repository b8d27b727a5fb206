/*
 * What a scheduler for this library includes.
 */
#ifndef CATAPULTS_RABBIT_POLICY_H
#define CATAPULTS_RABBIT_POLICY_H

/* Linking is by files: each function that handlers share has its own (tools/library). */
#ifdef __SDCC
#define CATAPULTS_SEPARATE
#endif

#include "catapults/policy.h"

#endif
