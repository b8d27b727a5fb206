/*
 * What a scheduler for this library includes.
 */
#ifndef CATAPULTS_RABBIT_POLICY_H
#define CATAPULTS_RABBIT_POLICY_H

#include "catapults/policy.h"

#endif
