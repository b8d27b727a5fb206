/* The kernel for the station. */
#ifndef FREERTOS_CONFIG_H
#define FREERTOS_CONFIG_H

#include "mps2-an385.h"

#define configMINIMAL_STACK_SIZE 128
#define configMAX_TASK_NAME_LEN 4
#define configSUPPORT_STATIC_ALLOCATION 1
#define configTOTAL_HEAP_SIZE 1024 /* nobody allocates */
#define configKERNEL_PROVIDED_STATIC_MEMORY 1

#define INCLUDE_vTaskDelete 1

/* Without a policy this is the kernel as it is. */
#ifndef STATION_GENERIC
#include "catapults_freertos.h"
#endif

#endif
