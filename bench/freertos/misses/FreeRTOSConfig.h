/*
 * A small system with a tick. Under a policy all tasks have one priority, and the policy alone orders them.
 */
#ifndef FREERTOS_CONFIG_H
#define FREERTOS_CONFIG_H

#define configCPU_CLOCK_HZ 25000000u
#define configTICK_RATE_HZ 1000
#define configTICK_TYPE_WIDTH_IN_BITS TICK_TYPE_WIDTH_32_BITS
#define configMAX_PRIORITIES 6
#define configUSE_PREEMPTION 1
#define configUSE_TIME_SLICING 0
#define configUSE_PORT_OPTIMISED_TASK_SELECTION 1
#define configMINIMAL_STACK_SIZE 256
#define configTOTAL_HEAP_SIZE (64u << 10)
#define configMAX_TASK_NAME_LEN 8
#define configUSE_IDLE_HOOK 0
#define configUSE_TICK_HOOK 0
#define configUSE_TIMERS 0
#define configUSE_MUTEXES 0
#define configCHECK_FOR_STACK_OVERFLOW 0
#define configCHECK_HANDLER_INSTALLATION 0
#define configSUPPORT_STATIC_ALLOCATION 0
#define configKERNEL_INTERRUPT_PRIORITY 255
#define configMAX_SYSCALL_INTERRUPT_PRIORITY (5 << 5)
#define INCLUDE_vTaskSuspend 1
#define INCLUDE_vTaskDelete 1
#define INCLUDE_xTaskDelayUntil 1

#ifdef POLICY
void task_created(void *task);
void policy_failed(unsigned line);
#define configCATAPULTS_TASK_CREATED(task) task_created(task)
#define configCATAPULTS_POLICY_FAILED(line, text) policy_failed(line)
#include "catapults_freertos.h"
#endif

#endif
