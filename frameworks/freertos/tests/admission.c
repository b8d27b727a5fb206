/*
 * The policy refuses tasks: before the scheduler starts and after, of any priority, with static memory and without.
 * Nothing is left of them. And the jobs of a task begin as xTaskDelayUntil says, on time or late.
 */
/* Policy: admitting */
/* Flags: -DTASK_CREATED=task_created */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "FreeRTOS.h"
#include "catapults/told.h"
#include "task.h"
#include "trace.h"

#define MUST(condition) must(__LINE__, #condition, condition)

static catapults_int weight; /* of the next task */
static volatile unsigned turns;

void vApplicationTickHook(void) {}

void test_policy_failed(unsigned line, const char *text) {
    printf("admission.c: the policy is out: line %u: %s\n", line, text);
    exit(1);
}

static void must(int line, const char *what, bool holds) {
    if (holds)
        return;
    printf("admission.c:%d: %s\n%s", line, what, trace_since());
    exit(1);
}

static TaskHandle_t creator, killer; /* the one deletes the other */

void task_created(TaskHandle_t task) {
    CATAPULTS_THREADIMPORT_weight(catapults_thread(task)) = weight;
    if (weight > 10 && creator != NULL && xTaskGetCurrentTaskHandle() == creator)
        vTaskResume(killer);
}

static void turn(void *argument) {
    (void)argument;
    for (;;) {
        turns++;
        taskYIELD();
    }
}

static BaseType_t create(catapults_int its_weight, UBaseType_t priority, TaskHandle_t *task) {
    *task = (TaskHandle_t)&weight; /* something that is to be replaced */
    weight = its_weight;
    return xTaskCreate(turn, "turn", configMINIMAL_STACK_SIZE, NULL, priority, task);
}

static void is_refused(catapults_int its_weight, UBaseType_t priority) {
    TaskHandle_t task;
    MUST(create(its_weight, priority, &task) == pdFAIL);
    MUST(task == NULL);
}

static void without_reason_to_go(void) {
    UBaseType_t tasks = uxTaskGetNumberOfTasks();
    size_t memory = xPortGetFreeHeapSize();
    trace_since();
    for (UBaseType_t priority = 0; priority < configMAX_PRIORITIES; priority++)
        is_refused(6, priority);
    MUST(strstr(trace_since(), "schedule") == NULL); /* the one that asks goes on */
    MUST(uxTaskGetNumberOfTasks() == tasks && xPortGetFreeHeapSize() == memory);
    vTaskDelay(3);
    MUST(turns == 0);
}

static void reasons(void) {
    is_refused(-1, 1);
    MUST(strcmp(catapults_refusal()->text, "a weight below nothing") == 0);
    MUST(catapults_refusal_values() == NULL);
    is_refused(7, 1);
    MUST(strcmp(catapults_refusal()->text, "12 of 10") == 0 && catapults_refusal()->line == 20);
    MUST(catapults_refusal_values()->count == 2 && catapults_refusal_values()->values[0] == 12);
}

static void with_static_memory(void) {
    static StaticTask_t record;
    static StackType_t stack[configMINIMAL_STACK_SIZE];
    weight = 6;
    MUST(xTaskCreateStatic(turn, "turn", configMINIMAL_STACK_SIZE, NULL, 2, stack, &record) == NULL);
    weight = 5;
    turns = 0;
    TaskHandle_t task = xTaskCreateStatic(turn, "turn", configMINIMAL_STACK_SIZE, NULL, 2, stack, &record);
    MUST(task != NULL);
    taskYIELD();
    MUST(turns > 0);
    vTaskDelete(task);
    turns = 0;
}

static void jobs(void) {
    TickType_t last = xTaskGetTickCount();
    const struct catapults_thread *self = catapults_thread(NULL);
    MUST(CATAPULTS_THREADIMPORT_release(self) == -1);
    trace_since();
    MUST(xTaskDelayUntil(&last, 5) == pdTRUE);
    MUST(CATAPULTS_IMPORT_jobs == 1 && CATAPULTS_THREADIMPORT_release(self) == (catapults_time)last * 1000000);
    const char *told = trace_since();
    const char *released = strstr(told, "release 2\n"), *raised = strstr(told, "event_raised 2\n");
    MUST(strncmp(told, "block.sleep 2\n", 14) == 0 && released != NULL && raised != NULL && released < raised);

    vTaskDelay(10); /* no job begins or ends */
    MUST(CATAPULTS_IMPORT_jobs == 1);
    MUST(xTaskDelayUntil(&last, 5) == pdFALSE);
    MUST(CATAPULTS_IMPORT_jobs == 2 && CATAPULTS_THREADIMPORT_release(self) == (catapults_time)last * 1000000);
    told = trace_since();
    MUST(strlen(told) > 10 && strcmp(told + strlen(told) - 10, "release 2\n") == 0);
}

static volatile TickType_t released;

static void sleep_long(void *argument) {
    TickType_t last = xTaskGetTickCount();
    (void)argument;
    xTaskDelayUntil(&last, 10000);
    released = last;
    vTaskSuspend(NULL);
}

/* A job that begins before its release, because something ends the delay, has the release that it should have. */
static void jobs_that_are_early(void) {
    for (int i = 0; i < 2; i++) {
        TaskHandle_t task;
        catapults_int before = CATAPULTS_IMPORT_jobs;
        weight = 0;
        MUST(xTaskCreate(sleep_long, "sleeps", configMINIMAL_STACK_SIZE, NULL, 1, &task) == pdPASS);
        taskYIELD();
        if (i == 0) {
            MUST(xTaskAbortDelay(task) == pdPASS);
        } else {
            vTaskSuspend(task);
            vTaskResume(task);
        }
        taskYIELD();
        MUST(released > xTaskGetTickCount() && CATAPULTS_IMPORT_jobs == before + 1);
        MUST(CATAPULTS_THREADIMPORT_release(catapults_thread(task)) == (catapults_time)released * 1000000);
        vTaskDelete(task);
    }
}

#ifdef __arm__
/*
 * Somebody deletes a task while it creates another one, which is refused: the idle task frees both. The switch is made
 * as soon as the kernel lets interrupts come. (Its port to Linux would make it at once, in the hook.)
 */
static void create_in_vain(void *argument) {
    TaskHandle_t task;
    (void)argument;
    create(11, 1, &task);
    MUST(!"it is deleted before");
}

static void kill(void *argument) {
    (void)argument;
    vTaskSuspend(NULL);
    vTaskDelete(creator);
    creator = NULL;
    vTaskSuspend(NULL);
}

static void creators_that_are_deleted(void) {
    vTaskDelay(2);
    UBaseType_t tasks = uxTaskGetNumberOfTasks();
    size_t memory = xPortGetFreeHeapSize();
    weight = 0;
    MUST(xTaskCreate(kill, "kill", configMINIMAL_STACK_SIZE, NULL, 3, &killer) == pdPASS);
    taskYIELD();
    MUST(xTaskCreate(create_in_vain, "creator", configMINIMAL_STACK_SIZE, NULL, 1, &creator) == pdPASS);
    vTaskDelay(2);
    MUST(creator == NULL);
    vTaskDelete(killer);
    vTaskDelay(2);
    MUST(uxTaskGetNumberOfTasks() == tasks && xPortGetFreeHeapSize() == memory);
    is_refused(11, 1);
}
#endif

static void test(void *argument) {
    (void)argument;
    without_reason_to_go();
    reasons();
    with_static_memory();
    jobs();
    jobs_that_are_early();
#ifdef __arm__
    creators_that_are_deleted();
#endif
    printf("admission: who is refused leaves nothing behind\n");
    exit(0);
}

int main(void) {
    TaskHandle_t tester;
    MUST(catapults_refusal() == NULL);
    is_refused(11, 1); /* the first of all */
    MUST(xTaskGetCurrentTaskHandle() == NULL);
    weight = 5;
    xTaskCreate(test, "test", configMINIMAL_STACK_SIZE, NULL, 1, &tester);
    is_refused(11, 2);
    is_refused(6, 0);
    MUST(xTaskGetCurrentTaskHandle() == tester);
    vTaskStartScheduler();
    return 1;
}
