/*
 * What a translated policy includes.
 */
#ifndef CATAPULTS_FREERTOS_POLICY_H
#define CATAPULTS_FREERTOS_POLICY_H

#include <stdint.h>

#define CATAPULTS_INT_BITS 32
#define CATAPULTS_HAS_TIME

/* What the kernel's hooks keep for a thread: see freertos_tasks_c_additions.h. */
#define CATAPULTS_HOST_MEMBERS                                                                                         \
    uint8_t state;                                                                                                     \
    uint32_t number;

#include "catapults/policy.h"

#endif
