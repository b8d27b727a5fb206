/* The kernel for the board. */
#ifndef FREERTOS_CONFIG_H
#define FREERTOS_CONFIG_H

#include "mps2-an385.h"

#define configMINIMAL_STACK_SIZE 256
#define configMAX_TASK_NAME_LEN 8
#define configTOTAL_HEAP_SIZE (64u << 10)

/* Without a policy, this is the kernel as it is. */
#ifndef NO_POLICY
#include "catapults_freertos.h"
#endif

#endif
