/*
 * Each operation of the kernel tells the policy what it should, first come first served and without time slices. The
 * tester is thread 1; the helper, thread 2, does what it is given and then suspends itself.
 */
/* Policy: fifo */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "FreeRTOS.h"
#include "event_groups.h"
#include "message_buffer.h"
#include "queue.h"
#include "semphr.h"
#include "task.h"
#include "timers.h"
#include "trace.h"

static TaskHandle_t tester, helper;
static void (*given)(void);
static unsigned failures;

#define EXPECT(expected) expect(__LINE__, expected)

static void expect(int line, const char *expected) {
    const char *told = trace_since();
    if (strcmp(told, expected) == 0)
        return;
    printf("events.c:%d: expected\n%sbut the policy was told\n%s\n", line, expected, told);
    failures++;
}

static void help(void *argument) {
    (void)argument;
    for (;;) {
        vTaskSuspend(NULL);
        given();
    }
}

/* The helper does this now, until it blocks or is done. */
static void give(void (*what)(void)) {
    trace_since();
    given = what;
    vTaskResume(helper);
    taskYIELD();
}

#define STARTS "resume_thread 2\nswitch_out 1\nschedule -> 2\n"
#define DONE "suspend_thread 2\nschedule -> 1\n"
/* The tester does something, after which the helper can go on; does so, and is done. */
#define GOES_ON "event_raised 2\nswitch_out 1\nschedule -> 2\n" DONE

static void nothing(void) {}

static void lives(void) {
    TaskHandle_t other;
    static StaticTask_t record;
    static StackType_t stack[configMINIMAL_STACK_SIZE];
    trace_since();
    xTaskCreate(help, "helper", configMINIMAL_STACK_SIZE, NULL, 1, &helper);
    EXPECT("newthread 2\n");
    taskYIELD();
    EXPECT("switch_out 1\nschedule -> 2\n" DONE);
    give(nothing);
    EXPECT(STARTS DONE);

    other = xTaskCreateStatic(help, "static", configMINIMAL_STACK_SIZE, NULL, 1, stack, &record);
    vTaskDelete(other);
    EXPECT("newthread 3\ncancel 3\n");
    xTaskCreate(help, "other", configMINIMAL_STACK_SIZE, NULL, 1, &other);
    taskYIELD();
    vTaskDelete(other);
    EXPECT("newthread 4\nswitch_out 1\nschedule -> 4\nsuspend_thread 4\nschedule -> 1\ncancel 4\n");
}

static void end_itself(void) { vTaskDelete(NULL); }

static void ends(void) {
    give(end_itself);
    EXPECT(STARTS "exit 2\nschedule -> 1\n");
    /* Numbers go on; the tests that follow have another thread 2 in mind. */
    printf("%s", failures ? "" : "events: all as expected\n");
    exit(failures != 0);
}

static void sleeps(void) { vTaskDelay(20); }
static void sleeps_long(void) { vTaskDelay(10000); }
static void sleeps_until(void) {
    TickType_t last = xTaskGetTickCount();
    xTaskDelayUntil(&last, 10000);
}

static void sleep_and_suspend(void) {
    trace_since();
    vTaskDelay(2);
    EXPECT("block.sleep 1\nevent_raised 1\nschedule -> 1\n");
    give(sleeps);
    EXPECT(STARTS "block.sleep 2\nschedule -> 1\n");
    vTaskDelay(60);
    EXPECT("block.sleep 1\nevent_raised 2\nschedule -> 2\nsuspend_thread 2\nevent_raised 1\nschedule -> 1\n");

    vTaskResume(helper);
    EXPECT("resume_thread 2\n");
    vTaskResume(helper);
    EXPECT("");
    vTaskSuspend(helper);
    EXPECT("suspend_thread 2\n");
    vTaskSuspend(helper);
    EXPECT("");

    /* Out of a wait. */
    give(sleeps_until);
    EXPECT(STARTS "block.sleep 2\nschedule -> 1\n");
    vTaskSuspend(helper);
    EXPECT("");
    vTaskResume(helper);
    EXPECT("event_raised 2\n");
    taskYIELD();
    EXPECT("switch_out 1\nschedule -> 2\n" DONE);
    give(sleeps_long);
    EXPECT(STARTS "block.sleep 2\nschedule -> 1\n");
    xTaskAbortDelay(helper);
    taskYIELD();
    EXPECT(GOES_ON);
}

static QueueHandle_t queue;
static int message;
static void receives(void) { xQueueReceive(queue, &message, portMAX_DELAY); }
static void sends(void) { xQueueSend(queue, &message, portMAX_DELAY); }
static void peeks(void) { xQueuePeek(queue, &message, portMAX_DELAY); }
static void receives_soon(void) { xQueueReceive(queue, &message, 20); }

static void queues(void) {
    queue = xQueueCreate(1, sizeof message);
    give(receives);
    EXPECT(STARTS "block.queue.receive 2\nschedule -> 1\n");
    xQueueSend(queue, &message, 0);
    taskYIELD();
    EXPECT(GOES_ON);
    give(peeks);
    EXPECT(STARTS "block.queue.receive 2\nschedule -> 1\n");
    xQueueSend(queue, &message, 0);
    taskYIELD();
    EXPECT(GOES_ON);
    give(sends);
    EXPECT(STARTS "block.queue.send 2\nschedule -> 1\n");
    xQueueReceive(queue, &message, 0);
    taskYIELD();
    EXPECT(GOES_ON);
    xQueueReceive(queue, &message, 0);
    give(receives_soon);
    trace_since();
    vTaskDelay(60);
    EXPECT("block.sleep 1\nevent_raised 2\nschedule -> 2\nsuspend_thread 2\nevent_raised 1\nschedule -> 1\n");
    /* Nobody has to wait. */
    give(sends);
    EXPECT(STARTS DONE);
    give(receives);
    EXPECT(STARTS DONE);
}

static SemaphoreHandle_t semaphore;
static void takes(void) { xSemaphoreTake(semaphore, portMAX_DELAY); }
static void takes_and_gives(void) {
    xSemaphoreTake(semaphore, portMAX_DELAY);
    xSemaphoreGive(semaphore);
}
static void takes_recursive(void) {
    xSemaphoreTakeRecursive(semaphore, portMAX_DELAY);
    xSemaphoreGiveRecursive(semaphore);
}

static void semaphores(void) {
    semaphore = xSemaphoreCreateBinary();
    give(takes);
    EXPECT(STARTS "block.semaphore 2\nschedule -> 1\n");
    xSemaphoreGive(semaphore);
    taskYIELD();
    EXPECT(GOES_ON);
    semaphore = xSemaphoreCreateCounting(2, 1);
    give(takes);
    EXPECT(STARTS DONE);
    give(takes);
    EXPECT(STARTS "block.semaphore 2\nschedule -> 1\n");
    xSemaphoreGive(semaphore);
    taskYIELD();
    EXPECT(GOES_ON);

    semaphore = xSemaphoreCreateMutex();
    xSemaphoreTake(semaphore, 0);
    give(takes_and_gives);
    EXPECT(STARTS "block.lock 2\nschedule -> 1\n");
    xSemaphoreGive(semaphore);
    taskYIELD();
    EXPECT(GOES_ON);
    semaphore = xSemaphoreCreateRecursiveMutex();
    xSemaphoreTakeRecursive(semaphore, 0);
    give(takes_recursive);
    EXPECT(STARTS "block.lock 2\nschedule -> 1\n");
    xSemaphoreGiveRecursive(semaphore);
    taskYIELD();
    EXPECT(GOES_ON);
}

/* The tester inherits the helper's priority: it moves from list to list, is made ready over and over, and no event
 * comes of that. */
static void inheritance(void) {
    semaphore = xSemaphoreCreateMutex();
    xSemaphoreTake(semaphore, 0);
    vTaskPrioritySet(helper, 3);
    trace_since();
    given = takes_and_gives;
    vTaskResume(helper);
    EXPECT(STARTS "block.lock 2\nschedule -> 1\n");
    configASSERT(uxTaskPriorityGet(NULL) == 3);
    xSemaphoreGive(semaphore);
    configASSERT(uxTaskPriorityGet(NULL) == 1);
    EXPECT(GOES_ON);
    vTaskPrioritySet(helper, 1);
    vTaskResume(helper);
    vTaskPrioritySet(helper, 2);
    EXPECT("resume_thread 2\nswitch_out 1\nschedule -> 2\n" DONE);
    vTaskPrioritySet(helper, 1);
    EXPECT("");
}

static EventGroupHandle_t group;
static void waits_for_bits(void) { xEventGroupWaitBits(group, 1, pdTRUE, pdTRUE, portMAX_DELAY); }
static void meets(void) { xEventGroupSync(group, 1, 3, portMAX_DELAY); }
static void takes_notification(void) { ulTaskNotifyTake(pdTRUE, portMAX_DELAY); }
static void waits_for_notification(void) {
    uint32_t value;
    xTaskNotifyWait(0, UINT32_MAX, &value, portMAX_DELAY);
}
static StreamBufferHandle_t stream;
static MessageBufferHandle_t messages;
static uint8_t bytes[4];
static void reads(void) { xStreamBufferReceive(stream, bytes, sizeof bytes, portMAX_DELAY); }
static void writes(void) { xStreamBufferSend(stream, bytes, sizeof bytes, portMAX_DELAY); }
static void reads_message(void) { xMessageBufferReceive(messages, bytes, sizeof bytes, portMAX_DELAY); }

static void others(void) {
    group = xEventGroupCreate();
    give(waits_for_bits);
    EXPECT(STARTS "block.event_group 2\nschedule -> 1\n");
    xEventGroupSetBits(group, 1);
    taskYIELD();
    EXPECT(GOES_ON);
    give(meets);
    EXPECT(STARTS "block.event_group 2\nschedule -> 1\n");
    xEventGroupSync(group, 2, 3, portMAX_DELAY);
    taskYIELD();
    EXPECT(GOES_ON);

    give(takes_notification);
    EXPECT(STARTS "block.notification 2\nschedule -> 1\n");
    xTaskNotifyGive(helper);
    taskYIELD();
    EXPECT(GOES_ON);
    give(waits_for_notification);
    EXPECT(STARTS "block.notification 2\nschedule -> 1\n");
    xTaskNotify(helper, 1, eSetBits);
    taskYIELD();
    EXPECT(GOES_ON);

    stream = xStreamBufferCreate(sizeof bytes, 1);
    give(reads);
    EXPECT(STARTS "block.stream 2\nschedule -> 1\n");
    xStreamBufferSend(stream, bytes, sizeof bytes, 0);
    taskYIELD();
    EXPECT(GOES_ON);
    xStreamBufferSend(stream, bytes, sizeof bytes, 0);
    give(writes);
    EXPECT(STARTS "block.stream 2\nschedule -> 1\n");
    xStreamBufferReceive(stream, bytes, sizeof bytes, 0);
    taskYIELD();
    EXPECT(GOES_ON);
    messages = xMessageBufferCreate(16);
    give(reads_message);
    EXPECT(STARTS "block.stream 2\nschedule -> 1\n");
    xMessageBufferSend(messages, bytes, sizeof bytes, 0);
    taskYIELD();
    EXPECT(GOES_ON);
    /* What a wait for a notification is called does not stick. */
    give(takes_notification);
    EXPECT(STARTS "block.notification 2\nschedule -> 1\n");
    xTaskNotifyGive(helper);
    taskYIELD();
    EXPECT(GOES_ON);
}

/* While the scheduler is suspended, nobody is switched to. */
static void suspended(void) {
    given = nothing;
    trace_since();
    vTaskSuspendAll();
    vTaskResume(helper);
    taskYIELD();
    EXPECT("resume_thread 2\n");
    vTaskPrioritySet(helper, 2);
    EXPECT("");
    xTaskResumeAll();
    EXPECT("switch_out 1\nschedule -> 2\n" DONE);
    vTaskPrioritySet(helper, 1);
}

static volatile bool called;
static void timer_callback(TimerHandle_t timer) {
    (void)timer;
    called = true;
}

/* The timer task is none of the policy's threads, and comes before them. */
static void timers(void) {
    TimerHandle_t timer = xTimerCreate("timer", 2, pdFALSE, NULL, timer_callback);
    trace_since();
    xTimerStart(timer, 0);
    EXPECT("switch_out 1\nschedule -> 1\n");
    while (!called)
        ;
    EXPECT("switch_out 1\nschedule -> 1\n");
}

/* An interrupt. */
static volatile TickType_t tick;
void vApplicationTickHook(void) {
    BaseType_t woken = pdFALSE;
    if (tick == 1) {
        vTaskNotifyGiveFromISR(helper, &woken);
        vTaskNotifyGiveFromISR(helper, &woken);
    }
    if (tick)
        tick--;
}

static void interrupts(void) {
    give(takes_notification);
    EXPECT(STARTS "block.notification 2\nschedule -> 1\n");
    tick = 2;
    while (tick)
        ;
    EXPECT("event_raised 2\n");
    taskYIELD();
    EXPECT("switch_out 1\nschedule -> 2\n" DONE);
}

void test_policy_failed(unsigned line, const char *text) {
    printf("the policy is out: line %u: %s\n", line, text);
    exit(1);
}

static void test(void *argument) {
    (void)argument;
    EXPECT("newthread 1\nschedule -> 1\n");
    lives();
    sleep_and_suspend();
    queues();
    semaphores();
    inheritance();
    others();
    suspended();
    timers();
    interrupts();
    ends();
}

int main(void) {
    xTaskCreate(test, "tester", configMINIMAL_STACK_SIZE, NULL, 1, &tester);
    vTaskStartScheduler();
    return 1;
}
