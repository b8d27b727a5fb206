/*
 * What FreeRTOSConfig.h of a small program says on this board: tasks of one priority, without time slices. Whoever
 * runs, runs until it yields or waits.
 */
#ifndef MPS2_AN385_H
#define MPS2_AN385_H

#define configCPU_CLOCK_HZ 25000000u
#define configTICK_RATE_HZ 100
#define configTICK_TYPE_WIDTH_IN_BITS TICK_TYPE_WIDTH_32_BITS
#define configMAX_PRIORITIES 2
#define configUSE_PREEMPTION 1
#define configUSE_TIME_SLICING 0
#define configIDLE_SHOULD_YIELD 1
#define configUSE_IDLE_HOOK 0
#define configUSE_TICK_HOOK 0
#define configUSE_TIMERS 0
#define configCHECK_FOR_STACK_OVERFLOW 0
#define configSUPPORT_DYNAMIC_ALLOCATION 1
#define configKERNEL_INTERRUPT_PRIORITY 255
#define configMAX_SYSCALL_INTERRUPT_PRIORITY (5 << 5)

#define configASSERT(condition) ((void)(condition))

#endif
