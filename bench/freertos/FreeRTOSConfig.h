/*
 * A small system without interrupts: what is counted are instructions of tasks and of the kernel.
 */
#ifndef FREERTOS_CONFIG_H
#define FREERTOS_CONFIG_H

#define configUSE_PREEMPTION 1
#define configUSE_TIME_SLICING 0
#define configUSE_PORT_OPTIMISED_TASK_SELECTION 1
#define configCPU_CLOCK_HZ 25000000
#define configTICK_RATE_HZ 1000
#define configTICK_TYPE_WIDTH_IN_BITS TICK_TYPE_WIDTH_32_BITS
#define configMAX_PRIORITIES 4
#define configMINIMAL_STACK_SIZE 256
#define configTOTAL_HEAP_SIZE (64u << 10)
#define configMAX_TASK_NAME_LEN 4
#define configUSE_IDLE_HOOK 0
#define configUSE_TICK_HOOK 0
#define configCHECK_FOR_STACK_OVERFLOW 0
#define configCHECK_HANDLER_INSTALLATION 0
#define configSUPPORT_STATIC_ALLOCATION 0
#define configUSE_MUTEXES 0
#define configUSE_TIMERS 0
#define configKERNEL_INTERRUPT_PRIORITY 255
#define configMAX_SYSCALL_INTERRUPT_PRIORITY (4 << 5)
#define INCLUDE_vTaskDelay 1
#define INCLUDE_vTaskSuspend 1

#ifdef POLICY
#include "catapults_freertos.h"
#endif

#endif
