/*
 * The kernel on the machine that builds, and on a Cortex-M3: for tests.
 */
#ifndef FREERTOS_CONFIG_H
#define FREERTOS_CONFIG_H

#define configUSE_PREEMPTION 1
#ifndef configUSE_TIME_SLICING
#define configUSE_TIME_SLICING 0
#endif
#ifdef __arm__
#define configUSE_PORT_OPTIMISED_TASK_SELECTION 1
#define configTICK_TYPE_WIDTH_IN_BITS TICK_TYPE_WIDTH_32_BITS
#define configTOTAL_HEAP_SIZE (2u << 20)
#define configMINIMAL_STACK_SIZE 1024
#define configCPU_CLOCK_HZ 25000000
#define configKERNEL_INTERRUPT_PRIORITY 255
#define configMAX_SYSCALL_INTERRUPT_PRIORITY (4 << 5)
#else
#define configUSE_PORT_OPTIMISED_TASK_SELECTION 0
#define configTICK_TYPE_WIDTH_IN_BITS TICK_TYPE_WIDTH_64_BITS
#define configTOTAL_HEAP_SIZE (8u << 20)
#define configMINIMAL_STACK_SIZE 4096
#endif
#ifndef configTICK_RATE_HZ
#define configTICK_RATE_HZ 1000
#endif
#define configMAX_PRIORITIES 8
#define configMAX_TASK_NAME_LEN 16
#define configIDLE_SHOULD_YIELD 1
#ifndef configUSE_IDLE_HOOK
#define configUSE_IDLE_HOOK 0
#endif
#ifndef configUSE_TICK_HOOK
#define configUSE_TICK_HOOK 0
#endif
#define configCHECK_FOR_STACK_OVERFLOW 0
#define configCHECK_HANDLER_INSTALLATION 0
#define configSUPPORT_STATIC_ALLOCATION 1
#define configSUPPORT_DYNAMIC_ALLOCATION 1
#define configKERNEL_PROVIDED_STATIC_MEMORY 1

#define configUSE_MUTEXES 1
#define configUSE_RECURSIVE_MUTEXES 1
#define configUSE_COUNTING_SEMAPHORES 1
#define configUSE_QUEUE_SETS 1
#define configUSE_TASK_NOTIFICATIONS 1
#define configUSE_TIMERS 1
#define configTIMER_TASK_PRIORITY (configMAX_PRIORITIES - 1)
#define configTIMER_QUEUE_LENGTH 10
#define configTIMER_TASK_STACK_DEPTH configMINIMAL_STACK_SIZE

#define INCLUDE_vTaskDelay 1
#define INCLUDE_xTaskDelayUntil 1
#define INCLUDE_vTaskDelete 1
#define INCLUDE_vTaskSuspend 1
#define INCLUDE_xTaskResumeFromISR 1
#define INCLUDE_vTaskPrioritySet 1
#define INCLUDE_uxTaskPriorityGet 1
#define INCLUDE_xTaskAbortDelay 1
#define INCLUDE_eTaskGetState 1
#define INCLUDE_xTimerPendFunctionCall 1
#define INCLUDE_xTaskGetIdleTaskHandle 1

void test_assertion(const char *file, int line, const char *what);
#define configASSERT(condition) ((condition) ? (void)0 : test_assertion(__FILE__, __LINE__, #condition))

#include <stdint.h>

/* What the kernel tells the policy, and what the policy decides: tests/posix/trace.c */
struct catapults_thread;
struct catapults_stop;
struct catapults_timer;
void trace_expire(int64_t now, const struct catapults_timer *timer);
void trace_step(const char *event, struct catapults_thread *thread);
void trace_done(void);
void trace_stopped(const struct catapults_stop *stop);
void trace_chosen(struct catapults_thread *thread);
#define CATAPULTS_TRACE_EXPIRE(now, timer) trace_expire(now, timer)
#define CATAPULTS_TRACE_STEP(event, thread) trace_step(event, thread)
#define CATAPULTS_TRACE_DONE() trace_done()
#define CATAPULTS_TRACE_STOPPED(stop) trace_stopped(stop)
#define CATAPULTS_TRACE_CHOSEN(thread) trace_chosen(thread)

#define CATAPULTS_TEXTS
void test_policy_failed(unsigned line, const char *text);
#define configCATAPULTS_POLICY_FAILED(line, text) test_policy_failed(line, text)
#ifdef TASK_CREATED
struct tskTaskControlBlock;
void TASK_CREATED(struct tskTaskControlBlock *task);
#define configCATAPULTS_TASK_CREATED(task) TASK_CREATED(task)
#endif
#ifdef configCATAPULTS_TRACE_CLOCK
uint64_t configCATAPULTS_TRACE_CLOCK(void);
#endif

#include "catapults_freertos.h"

#endif
