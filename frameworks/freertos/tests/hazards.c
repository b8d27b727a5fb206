/*
 * A policy whose guard fails is out, with a word on which line of it; its tasks go on, and the kernel decides. Before
 * that: a task that is asked for by name runs next.
 */
/* Policy: hazard */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "FreeRTOS.h"
#include "task.h"
#include "trace.h"

static volatile unsigned failures, turns[3];
static unsigned failed_line;
static const char *failed_text = "";
static TaskHandle_t tasks[3];

void vApplicationTickHook(void) {}

void test_policy_failed(unsigned line, const char *text) {
    failures++;
    failed_line = line;
    failed_text = text;
}

#define MUST(condition) must(__LINE__, #condition, condition)

static void must(int line, const char *what, bool holds) {
    if (holds)
        return;
    printf("hazards.c:%d: %s\n%s", line, what, trace_since());
    exit(1);
}

static void turn(void *which) {
    for (;;) {
        (*(volatile unsigned *)which)++;
        taskYIELD();
    }
}

static void test(void *argument) {
    (void)argument;
    for (int i = 0; i < 3; i++)
        xTaskCreate(turn, "turn", configMINIMAL_STACK_SIZE, (void *)&turns[i], 1, &tasks[i]);
    trace_since();
    MUST(catapults_yield_to(tasks[2]));
    MUST(strcmp(trace_since(),
                "set_next_thread 4\nswitch_out 1\nschedule -> 4\nswitch_out 4\nschedule -> 2\nswitch_out 2\n"
                "schedule -> 3\nswitch_out 3\nschedule -> 1\n") == 0);
    MUST(!catapults_yield_to(xTaskGetCurrentTaskHandle()));
    vTaskSuspend(tasks[2]);
    MUST(!catapults_yield_to(tasks[2]));
    vTaskResume(tasks[2]);

    CATAPULTS_IMPORT_empty = true;
    taskYIELD();
    MUST(failures == 1 && failed_line == 20 && strstr(failed_text, "`aside` is empty"));
    MUST(!catapults_yield_to(tasks[0]));
    for (int i = 0; i < 3; i++)
        turns[i] = 0;
    for (int i = 0; i < 100; i++)
        taskYIELD();
    /* The kernel's own: all of one priority take turns. */
    for (int i = 0; i < 3; i++)
        MUST(turns[i] >= 99 && turns[i] <= 101);
    vTaskDelay(5);
    vTaskDelete(tasks[0]);
    xTaskCreate(turn, "new", configMINIMAL_STACK_SIZE, (void *)&turns[0], 1, NULL);
    turns[0] = 0;
    taskYIELD();
    MUST(turns[0] > 0 && failures == 1);
    printf("hazards: line %u: %s; the tasks go on\n", failed_line, failed_text);
    exit(0);
}

int main(void) {
    xTaskCreate(test, "test", configMINIMAL_STACK_SIZE, NULL, 1, NULL);
    vTaskStartScheduler();
    return 1;
}
