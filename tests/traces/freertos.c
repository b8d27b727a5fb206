/*
 * The threads of tests/tests/traces.rs in FreeRTOS: the same that its scenario has, and nothing that takes time but to
 * sleep. The last that ends leaves freertos.trace where the program runs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "FreeRTOS.h"
#include "queue.h"
#include "task.h"
#include "trace.h"

static QueueHandle_t letters;
static TaskHandle_t task_of_c;

void vApplicationTickHook(void) {}

void test_policy_failed(unsigned line, const char *text) {
    printf("line %u: %s\n", line, text);
    exit(1);
}

#ifdef configCATAPULTS_TRACE_CLOCK
#ifdef __arm__
/* SysTick counts down to the next tick. One that has come, and is not told to the kernel yet, counts. */
uint64_t configCATAPULTS_TRACE_CLOCK(void) {
    const volatile uint32_t *reload = (const volatile uint32_t *)0xe000e014,
                            *left = (const volatile uint32_t *)0xe000e018;
    const volatile uint32_t *interrupts = (const volatile uint32_t *)0xe000ed04;
    const uint32_t tick_is_pending = 1u << 26;
    uint64_t ticks = xTaskGetTickCountFromISR(), to_next = *left;
    if (*interrupts & tick_is_pending) {
        to_next = *left;
        ticks++;
    }
    return ticks * (1000000000u / configTICK_RATE_HZ) + (*reload - to_next) * (1000000000u / configCPU_CLOCK_HZ);
}
#else
uint64_t configCATAPULTS_TRACE_CLOCK(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
#endif
#endif

static void yields(int times) {
    for (int i = 0; i < times; i++)
        taskYIELD();
}

static void receives(void) {
    char letter;
    configASSERT(xQueueReceive(letters, &letter, portMAX_DELAY) == pdTRUE);
}

static void sends(void) { configASSERT(xQueueSend(letters, "", 0) == pdTRUE); }

static void leave_trace(void) {
    taskENTER_CRITICAL();
    size_t bytes;
    const void *trace = catapults_trace_end(&bytes);
    FILE *file = fopen("freertos.trace", "wb");
    configASSERT(file && fwrite(trace, 1, bytes, file) == bytes && fclose(file) == 0);
    exit(0);
}

static void a(void *argument) {
    (void)argument;
    yields(3);
    receives();
    vTaskDelay(pdMS_TO_TICKS(300));
    receives();
    leave_trace();
}

static void b(void *argument) {
    (void)argument;
    yields(1);
    vTaskSuspend(task_of_c);
    yields(3);
    vTaskResume(task_of_c);
    yields(2);
    sends();
    vTaskDelete(NULL);
}

static void c(void *argument) {
    (void)argument;
    yields(5);
    vTaskDelay(pdMS_TO_TICKS(100));
    sends();
    vTaskDelete(NULL);
}

static void set(TaskHandle_t task, int value) {
    (void)task, (void)value;
#ifdef CATAPULTS_THREADIMPORT_bytesleft
    CATAPULTS_THREADIMPORT_bytesleft(catapults_thread(task)) = value;
#endif
}

static TaskHandle_t create(TaskFunction_t run, const char *name) {
    TaskHandle_t task;
    configASSERT(xTaskCreate(run, name, configMINIMAL_STACK_SIZE, NULL, 1, &task) == pdPASS);
    return task;
}

static void run_main(void *argument) {
    (void)argument;
    set(NULL, 5);
    task_of_c = create(c, "c");
    set(task_of_c, 4);
    set(create(a, "a"), 3);
    set(create(b, "b"), 4);
    yields(2);
    vTaskDelete(NULL);
}

int main(void) {
    letters = xQueueCreate(2, 1);
    create(run_main, "main");
    vTaskStartScheduler();
    return 1;
}
