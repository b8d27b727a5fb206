/*
 * The last line of FreeRTOSConfig.h includes this file, and a policy decides which task runs.
 *
 * The kernel's hooks become events of the policy, which is a part of tasks.c: freertos_tasks_c_additions.h. What the
 * policy keeps for a task is in the kernel's own record of the task, in the block for C libraries. So nothing is
 * allocated, and static tasks are tasks like any other.
 *
 * An application can define before this line:
 *   configCATAPULTS_POLICY_FAILED(line, text)
 *       The policy is out because a guard failed in this line of its source, and the kernel decides from now on. `text`
 *       is NULL unless CATAPULTS_TEXTS is defined. Called in the kernel, where nothing can block.
 *   configCATAPULTS_TASK_CREATED(task)
 *       The policy does not know the task, a TaskHandle_t, yet: the place to set what it imports of the task. Called in
 *       the kernel. The policy may refuse the task yet: keep no handle.
 *
 * A policy that refuses tasks (`fail` in `newthread`) is asked before the task can run. The kernel deletes a task that
 * is refused, xTaskCreate returns pdFAIL and sets the handle to NULL, xTaskCreateStatic returns NULL, and
 * catapults_refusal says why. So nobody may use the handle of a new task before that has returned.
 */
#ifndef CATAPULTS_FREERTOS_H
#define CATAPULTS_FREERTOS_H

#ifndef __ASSEMBLER__

#ifdef __cplusplus
#ifndef _Static_assert
#define _Static_assert static_assert
#endif
extern "C" {
#endif

/*
 * configCATAPULTS_TRACE_RECORDS, a power of two: which task ran when, and why, is recorded in memory, in the last so
 * many records of 32 bytes. 0, or not defined: nothing of that is compiled.
 */
#ifndef configCATAPULTS_TRACE_RECORDS
#define configCATAPULTS_TRACE_RECORDS 0
#endif
#if configCATAPULTS_TRACE_RECORDS > 0
/* The line of the statement that moved a thread last; the kernel's copy counts. */
__attribute__((unused)) static unsigned short catapults_moved_by;
#define CATAPULTS_MOVED(line) ((void)(catapults_moved_by = (line)))
#endif

/* The translated policy. An application that has several defines another name. */
#ifndef CATAPULTS_COMPILED_IN
#define CATAPULTS_COMPILED_IN "catapults_policy.h"
#endif
#include CATAPULTS_COMPILED_IN

struct tskTaskControlBlock; /* a TaskHandle_t points to one */

/* The task as the policy knows it: CATAPULTS_THREADIMPORT_left(catapults_thread(task)) is its variable `left`. */
struct catapults_thread *catapults_thread(struct tskTaskControlBlock *task);

/*
 * Why the policy has refused a task last: the line of its source, and a text if CATAPULTS_TEXTS is defined. NULL: it
 * has refused none. If `fail` has values, catapults_refusal_values says which (catapults/told.h); NULL: it has none.
 * The next refusal replaces both. They are for the task that called xTaskCreate, until another task can.
 */
const struct catapults_stop *catapults_refusal(void);
const struct catapults_told *catapults_refusal_values(void);

/*
 * Lets this task run next, if it is ready and the policy handles set_next_thread. Returns whether it did so; if not,
 * nothing happens. Called by tasks.
 */
bool catapults_yield_to(struct tskTaskControlBlock *task);

#if configCATAPULTS_TRACE_RECORDS > 0
/* Ends recording. The result is to be written to a file as it is; `catapults trace` reads that. */
const void *catapults_trace_end(size_t *bytes);
#endif

/* ---- What the application must have configured ------------------------------------------------------------------- */

#if !defined(configUSE_PREEMPTION) || configUSE_PREEMPTION == 0
#error                                                                                                                 \
    "Catapults: set configUSE_PREEMPTION to 1. Tasks of one priority without time slices are preempted by the policy only"
#endif
#if defined(configNUMBER_OF_CORES) && configNUMBER_OF_CORES > 1
#error "Catapults: a policy is for one core"
#endif
#if defined(configUSE_TIMERS) && configUSE_TIMERS == 1 && configTIMER_TASK_PRIORITY == 0
#error "Catapults: configTIMER_TASK_PRIORITY must be above that of the idle task"
#endif
#if defined(CATAPULTS_CAN_REFUSE) && (!defined(INCLUDE_vTaskDelete) || INCLUDE_vTaskDelete == 0)
#error "Catapults: the policy can refuse a task, which the kernel then deletes: set INCLUDE_vTaskDelete to 1"
#endif
#if defined(configENABLE_MPU) && configENABLE_MPU == 1
#error "Catapults: not made for a memory protection unit"
#endif
#if defined(configINCLUDE_FREERTOS_TASK_C_ADDITIONS_H) && configINCLUDE_FREERTOS_TASK_C_ADDITIONS_H == 0
#error "Catapults: configINCLUDE_FREERTOS_TASK_C_ADDITIONS_H must be 1"
#endif
#undef configINCLUDE_FREERTOS_TASK_C_ADDITIONS_H
#define configINCLUDE_FREERTOS_TASK_C_ADDITIONS_H 1

/* ---- The record of a thread is a part of the record of its task -------------------------------------------------- */

#if (defined(configUSE_C_RUNTIME_TLS_SUPPORT) && configUSE_C_RUNTIME_TLS_SUPPORT == 1) ||                              \
    (defined(configUSE_PICOLIBC_TLS) && configUSE_PICOLIBC_TLS == 1)
#error                                                                                                                 \
    "Catapults: the block for thread-local storage is taken; with newlib, set configUSE_NEWLIB_REENTRANT to 1 instead"
#endif

#if defined(configUSE_NEWLIB_REENTRANT) && configUSE_NEWLIB_REENTRANT == 1
#include <reent.h>
struct catapults_task {
    CATAPULTS_THREAD policy;
    struct _reent newlib;
};
#define configINIT_TLS_BLOCK(block, stack) _REENT_INIT_PTR(&(block).newlib)
#define configSET_TLS_BLOCK(block) (_impure_ptr = &(block).newlib)
#define configDEINIT_TLS_BLOCK(block) _reclaim_reent(&(block).newlib)
#else
struct catapults_task {
    CATAPULTS_THREAD policy;
};
#define configUSE_C_RUNTIME_TLS_SUPPORT 1
#define configINIT_TLS_BLOCK(block, stack)                                                                             \
    ((void)0) /* the kernel clears it; set up when the task is told to the policy */
#define configSET_TLS_BLOCK(block) ((void)0)
#define configDEINIT_TLS_BLOCK(block) ((void)0)
#endif
#define configTLS_BLOCK_TYPE struct catapults_task

/* ---- Hooks ------------------------------------------------------------------------------------------------------- */

#if defined(traceTASK_SWITCHED_IN) || defined(traceTASK_SWITCHED_OUT) || defined(traceMOVED_TASK_TO_READY_STATE) ||    \
    defined(traceTASK_CREATE) || defined(traceTASK_DELETE) || defined(traceTASK_SUSPEND) ||                            \
    defined(traceTASK_DELAY) || defined(traceBLOCKING_ON_QUEUE_RECEIVE) ||                                             \
    defined(tracePOST_MOVED_TASK_TO_READY_STATE) || defined(traceENTER_xTaskCreate) ||                                 \
    defined(traceRETURN_xTaskCreate) || defined(traceRETURN_xTaskDelayUntil)
#error "Catapults: something else has taken the kernel's trace hooks; a policy needs them"
#endif

/* Which event tells the policy that a task blocks. */
enum catapults_wait {
    CATAPULTS_WAIT_SLEEP,
    CATAPULTS_WAIT_QUEUE_SEND,
    CATAPULTS_WAIT_QUEUE_RECEIVE,
    CATAPULTS_WAIT_SEMAPHORE,
    CATAPULTS_WAIT_LOCK,
    CATAPULTS_WAIT_NOTIFICATION,
    CATAPULTS_WAIT_EVENT_GROUP
};

void catapults_hook_kernel_tasks(bool are_created);
void catapults_hook_creates(void);
void catapults_hook_created(struct tskTaskControlBlock *task);
void catapults_hook_filed(struct tskTaskControlBlock *task);
bool catapults_hook_is_refused(void);
void catapults_hook_ready(struct tskTaskControlBlock *task);
void catapults_hook_blocks(enum catapults_wait what);
void catapults_hook_waits_for_stream(bool waits);
void catapults_hook_ends_job(void);
void catapults_hook_is_late(unsigned long long release);
void catapults_hook_suspended(struct tskTaskControlBlock *task);
void catapults_hook_deleted(struct tskTaskControlBlock *task);
void catapults_hook_priority(struct tskTaskControlBlock *task, unsigned long priority);
void catapults_hook_priority_set(struct tskTaskControlBlock *task, unsigned long priority);
void catapults_hook_tick(void);
void catapults_hook_switched_out(void);
void catapults_hook_switched_in(void);

#define traceENTER_vTaskStartScheduler() catapults_hook_kernel_tasks(true)
#define traceSTARTING_SCHEDULER(idle_tasks) catapults_hook_kernel_tasks(false)
#define traceTASK_CREATE(task) catapults_hook_created(task)
#define traceMOVED_TASK_TO_READY_STATE(task) catapults_hook_ready(task)
#define traceTASK_SUSPEND(task) catapults_hook_suspended(task)
#define traceTASK_DELETE(task) catapults_hook_deleted(task)
#define traceTASK_PRIORITY_SET(task, priority) catapults_hook_priority_set(task, priority)
#define traceTASK_PRIORITY_INHERIT(task, priority) catapults_hook_priority(task, priority)
#define traceTASK_PRIORITY_DISINHERIT(task, priority) catapults_hook_priority(task, priority)
#define traceTASK_SWITCHED_OUT() catapults_hook_switched_out()
#define traceTASK_SWITCHED_IN() catapults_hook_switched_in()

/* All of these come just before the task leaves its ready list, or just after, while the scheduler is suspended. */
#define traceTASK_DELAY() catapults_hook_blocks(CATAPULTS_WAIT_SLEEP)
#define traceTASK_DELAY_UNTIL(until) catapults_hook_ends_job()
#define traceBLOCKING_ON_QUEUE_SEND(queue) catapults_hook_blocks(CATAPULTS_WAIT_QUEUE_SEND)
#define traceBLOCKING_ON_QUEUE_PEEK(queue) catapults_hook_blocks(CATAPULTS_WAIT_QUEUE_RECEIVE)
/* Mutexes and semaphores are queues of nothing. */
#define traceBLOCKING_ON_QUEUE_RECEIVE(queue)                                                                          \
    catapults_hook_blocks((queue)->uxItemSize != 0                      ? CATAPULTS_WAIT_QUEUE_RECEIVE                 \
                          : (queue)->uxQueueType == queueQUEUE_IS_MUTEX ? CATAPULTS_WAIT_LOCK                          \
                                                                        : CATAPULTS_WAIT_SEMAPHORE)
#define traceTASK_NOTIFY_TAKE_BLOCK(index) catapults_hook_blocks(CATAPULTS_WAIT_NOTIFICATION)
#define traceTASK_NOTIFY_WAIT_BLOCK(index) catapults_hook_blocks(CATAPULTS_WAIT_NOTIFICATION)
#define traceEVENT_GROUP_SYNC_BLOCK(group, set, wanted) catapults_hook_blocks(CATAPULTS_WAIT_EVENT_GROUP)
#define traceEVENT_GROUP_WAIT_BITS_BLOCK(group, wanted) catapults_hook_blocks(CATAPULTS_WAIT_EVENT_GROUP)
/* A task that waits for a stream or message buffer waits for a notification next, unless there is one already. */
#define traceBLOCKING_ON_STREAM_BUFFER_SEND(buffer) catapults_hook_waits_for_stream(true)
#define traceBLOCKING_ON_STREAM_BUFFER_RECEIVE(buffer) catapults_hook_waits_for_stream(true)
#define traceTASK_NOTIFY_WAIT(index) catapults_hook_waits_for_stream(false)

/* A late job begins without a delay. */
#define traceRETURN_xTaskDelayUntil(delayed)                                                                           \
    do {                                                                                                               \
        if ((delayed) == pdFALSE) {                                                                                    \
            catapults_hook_is_late(*pxPreviousWakeTime);                                                               \
            CATAPULTS_SWITCH_IF_PENDING();                                                                             \
        }                                                                                                              \
    } while (0)

/*
 * The policy can take the processor away in any event. The kernel then switches for the policy where it switches for a
 * task of a higher priority: at the end of the tick, when the scheduler is resumed, and in these functions of tasks.c.
 */
#define CATAPULTS_SWITCH_IF_PENDING()                                                                                  \
    do {                                                                                                               \
        if (xYieldPendings[0] != pdFALSE)                                                                              \
            portYIELD_WITHIN_API();                                                                                    \
    } while (0)
#define CATAPULTS_SAY_IF_PENDING(wanted)                                                                               \
    do {                                                                                                               \
        if (xYieldPendings[0] != pdFALSE)                                                                              \
            (wanted) = pdTRUE;                                                                                         \
    } while (0)
#define CATAPULTS_SAY_IF_PENDING_AT(wanted)                                                                            \
    do {                                                                                                               \
        if (xYieldPendings[0] != pdFALSE && (wanted) != NULL)                                                          \
            *(wanted) = pdTRUE;                                                                                        \
    } while (0)
#define traceRETURN_xTaskIncrementTick(wanted)                                                                         \
    do {                                                                                                               \
        catapults_hook_tick();                                                                                         \
        CATAPULTS_SAY_IF_PENDING(wanted);                                                                              \
    } while (0)
#ifdef CATAPULTS_CAN_REFUSE
/* These stand in functions of tasks.c, whose `pxNewTCB` is the new task, and `pxCreatedTask` where its handle goes. */
#define traceENTER_xTaskCreate(code, name, depth, parameters, priority, created) catapults_hook_creates()
#define traceENTER_xTaskCreateStatic(code, name, depth, parameters, priority, stack, record) catapults_hook_creates()
#define tracePOST_MOVED_TASK_TO_READY_STATE(task) catapults_hook_filed(task)
#define traceRETURN_xTaskCreate(result)                                                                                \
    do {                                                                                                               \
        if (pxNewTCB != NULL && catapults_hook_is_refused()) {                                                         \
            if (pxCreatedTask != NULL)                                                                                 \
                *pxCreatedTask = NULL;                                                                                 \
            vTaskDelete(pxNewTCB);                                                                                     \
            (result) = pdFAIL;                                                                                         \
        }                                                                                                              \
        CATAPULTS_SWITCH_IF_PENDING();                                                                                 \
    } while (0)
#define traceRETURN_xTaskCreateStatic(result)                                                                          \
    do {                                                                                                               \
        if (pxNewTCB != NULL && catapults_hook_is_refused()) {                                                         \
            vTaskDelete(pxNewTCB);                                                                                     \
            (result) = NULL;                                                                                           \
        }                                                                                                              \
        CATAPULTS_SWITCH_IF_PENDING();                                                                                 \
    } while (0)
#else
#define traceRETURN_xTaskCreate(result) CATAPULTS_SWITCH_IF_PENDING()
#define traceRETURN_xTaskCreateStatic(task) CATAPULTS_SWITCH_IF_PENDING()
#endif
#define traceRETURN_vTaskDelete() CATAPULTS_SWITCH_IF_PENDING()
#define traceRETURN_vTaskSuspend() CATAPULTS_SWITCH_IF_PENDING()
#define traceRETURN_vTaskResume() CATAPULTS_SWITCH_IF_PENDING()
#define traceRETURN_vTaskPrioritySet() CATAPULTS_SWITCH_IF_PENDING()
#define traceRETURN_vTaskPriorityDisinheritAfterTimeout() CATAPULTS_SWITCH_IF_PENDING()
#define traceRETURN_xTaskGenericNotify(result) CATAPULTS_SWITCH_IF_PENDING()
#define traceRETURN_xTaskPriorityDisinherit(wanted) CATAPULTS_SAY_IF_PENDING(wanted)
#define traceRETURN_xTaskRemoveFromEventList(wanted) CATAPULTS_SAY_IF_PENDING(wanted)
#define traceRETURN_xTaskResumeFromISR(wanted) CATAPULTS_SAY_IF_PENDING(wanted)
#define traceRETURN_xTaskGenericNotifyFromISR(result) CATAPULTS_SAY_IF_PENDING_AT(pxHigherPriorityTaskWoken)
#define traceRETURN_vTaskGenericNotifyGiveFromISR() CATAPULTS_SAY_IF_PENDING_AT(pxHigherPriorityTaskWoken)

#ifdef __cplusplus
}
#endif

#endif /* __ASSEMBLER__ */
#endif
