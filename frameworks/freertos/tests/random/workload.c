/*
 * A program that does whatever FreeRTOS can, in an order that a seed chooses: usage workload SEED STEPS
 *
 * It assigns the variables that the policy imports, now and then. It ends after so many steps, whatever its tasks are
 * doing, and prints what the policy was told and what it decided. A keeper that nobody meddles with sees to it that
 * something can always go on; the tick's handler is an interrupt like a device's. What FreeRTOS forbids is not done: no
 * task is deleted that holds a mutex or uses a stream, and nobody blocks in a critical section or while the scheduler
 * is suspended.
 */
#include <stdlib.h>

#include "FreeRTOS.h"
#include "event_groups.h"
#include "queue.h"
#include "semphr.h"
#include "stream_buffer.h"
#include "task.h"
#include "timers.h"
#include "trace.h"

enum { SLOTS = 6, STACK = 4096 };

/* The port to Linux ends a thread with ticks enabled. A tick in its free() would leave the lock of the C library to a
 * task that waits for its turn, or is deleted itself, and the next task that is created would wait for that lock for
 * ever, with ticks disabled. */
void __real_vPortCancelThread(void *task);
void __wrap_vPortCancelThread(void *task);
void __wrap_vPortCancelThread(void *task) {
    taskENTER_CRITICAL();
    __real_vPortCancelThread(task);
    taskEXIT_CRITICAL();
}

/* A task that others may meddle with. */
struct slot {
    TaskHandle_t task;     /* NULL: free */
    volatile bool keep;    /* it is not to be deleted, or taken out of a wait, just now */
    volatile bool comes;   /* it is being created; it may run, and even end, before that returns */
    volatile bool deleted; /* static memory of one that deletes itself is not free yet */
    bool is_static;
    StaticTask_t record;
    StackType_t stack[STACK];
};

static struct slot slots[SLOTS];
static long steps_left;
static QueueHandle_t queue;
static SemaphoreHandle_t mutexes[2], recursive, binary, counting;
static EventGroupHandle_t group;
static StreamBufferHandle_t stream;
static volatile bool stream_is_read, stream_is_written;
static TimerHandle_t timer;
static volatile bool unclean; /* a task has deleted itself, and the idle task has not cleaned up yet */

static unsigned random_below(unsigned bound) {
    static uint64_t state;
    if (bound == 0) {
        state = (uint64_t)steps_left; /* the seed, once */
        return 0;
    }
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(state >> 33) % bound;
}

static TickType_t a_while(void) { return random_below(3); }

/* ---- Imported variables
 * ----------------------------------------------------------------------------------------------- */

static catapults_int some_int(void) {
    static const catapults_int integers[] = {0, 1, 2, 3, 4, 5, 100, 1000, -1, INT32_MAX, INT32_MIN};
    return integers[random_below(11)];
}

static bool some_bool(void) { return random_below(2); }

static int64_t some_time(void) {
    static const int64_t times[] = {0, 1, 1000000, 5000000, 1000000000, -1};
    return times[random_below(6)];
}

/* Of the policy, and of a thread. The priority is the kernel's to say. */
static void assign_any(struct catapults_thread *t) {
    (void)some_int, (void)some_bool, (void)some_time, (void)t;
#define ASSIGN(name, type)                                                                                             \
    if (random_below(2))                                                                                               \
        CATAPULTS_IMPORT_##name = some_##type();
    CATAPULTS_IMPORTS(ASSIGN)
#define IS_PRIORITY(name) (sizeof(#name) == sizeof("priority") && #name[0] == 'p' && #name[1] == 'r' && #name[2] == 'i')
#define ASSIGN_OF_THREAD(name, type)                                                                                   \
    if (random_below(2) && !IS_PRIORITY(name))                                                                         \
        CATAPULTS_THREADIMPORT_##name(t) = some_##type();
    CATAPULTS_THREADIMPORTS(ASSIGN_OF_THREAD)
}

/* ---- Tasks
 * -------------------------------------------------------------------------------------------------------------- */

static void body(void *argument);

/*
 * In the kernel's port to Linux the idle task calls libc when it cleans up, and can lose the processor there, with
 * locks that a new task needs.
 */
void vApplicationIdleHook(void) {
    UBaseType_t tasks = 3;
    taskENTER_CRITICAL();
    for (int i = 0; i < SLOTS; i++)
        tasks += slots[i].task != NULL;
    if (tasks == uxTaskGetNumberOfTasks())
        unclean = false;
    taskEXIT_CRITICAL();
}

static void create(void) {
    struct slot *slot = NULL;
    taskENTER_CRITICAL();
    for (int i = 0; i < SLOTS && !slot && !unclean; i++) {
        bool gone = slots[i].deleted && !slots[i].is_static;
        if (!slots[i].comes && !slots[i].task && (!slots[i].deleted || gone))
            slot = &slots[i];
    }
    if (slot) {
        UBaseType_t priority = random_below(4) ? 1 : random_below(4);
        TaskHandle_t task = NULL;
        BaseType_t done = pdPASS;
        slot->deleted = slot->keep = false;
        slot->comes = true;
        slot->is_static = random_below(4) == 0;
        if (slot->is_static)
            task = xTaskCreateStatic(body, "static", STACK, slot, priority, slot->stack, &slot->record);
        else
            done = xTaskCreate(body, "task", STACK, slot, priority, &task);
        if (done == errCOULD_NOT_ALLOCATE_REQUIRED_MEMORY)
            abort();
        if (!slot->deleted)
            slot->task = task;
        slot->comes = false;
    }
    taskEXIT_CRITICAL();
}

/* Another one; in a critical section, so that it cannot end meanwhile. */
static struct slot *anybody(void) {
    struct slot *slot = &slots[random_below(SLOTS)];
    return slot->task && slot->task != xTaskGetCurrentTaskHandle() ? slot : NULL;
}

static void meddle(unsigned how) {
    taskENTER_CRITICAL();
    struct slot *slot = anybody();
    if (slot) {
        TaskHandle_t task = slot->task;
        switch (how) {
        case 0:
            if (!slot->keep)
                vTaskSuspend(task);
            break;
        case 1:
        case 2:
            vTaskResume(task);
            break;
        case 3:
            if (!slot->keep && !slot->is_static) {
                slot->task = NULL;
                slot->deleted = true;
                vTaskDelete(task);
            }
            break;
        case 4:
            vTaskPrioritySet(task, random_below(4));
            break;
        case 5:
            xTaskNotifyGive(task);
            break;
        case 6:
            catapults_yield_to(task);
            break;
        case 7:
            if (!slot->keep)
                xTaskAbortDelay(task);
            break;
        }
    }
    taskEXIT_CRITICAL();
}

/* Two mutexes, in this order or the other: who waits for the second does not wait for ever. */
static void lock(struct slot *self) {
    unsigned first = random_below(2);
    bool kept = self && self->keep;
    if (self)
        self->keep = true;
    if (xSemaphoreTake(mutexes[first], 1 + a_while()) == pdTRUE) {
        if (random_below(2))
            taskYIELD();
        if (random_below(2))
            vTaskDelay(1);
        if (random_below(4) == 0 && xSemaphoreTake(mutexes[1 - first], a_while()) == pdTRUE)
            xSemaphoreGive(mutexes[1 - first]);
        xSemaphoreGive(mutexes[first]);
    }
    if (random_below(4) == 0 && xSemaphoreTakeRecursive(recursive, a_while()) == pdTRUE) {
        if (xSemaphoreTakeRecursive(recursive, a_while()) == pdTRUE)
            xSemaphoreGiveRecursive(recursive);
        xSemaphoreGiveRecursive(recursive);
    }
    if (self)
        self->keep = kept;
}

static void use_stream(struct slot *self) {
    uint8_t bytes[8] = {0};
    bool read = random_below(2), mine = false;
    volatile bool *used = read ? &stream_is_read : &stream_is_written;
    taskENTER_CRITICAL();
    if (!*used) {
        *used = mine = true;
        if (self)
            self->keep = true;
    }
    taskEXIT_CRITICAL();
    if (!mine)
        return;
    if (read)
        xStreamBufferReceive(stream, bytes, 1 + random_below(8), a_while());
    else
        xStreamBufferSend(stream, bytes, 1 + random_below(8), a_while());
    if (self)
        self->keep = false;
    *used = false;
}

/* What makes others ready while nobody can be switched to. */
static void while_suspended(void) {
    vTaskSuspendAll();
    meddle(1 + random_below(2));
    meddle(4 + random_below(2));
    int one = 1;
    xQueueSend(queue, &one, 0);
    xEventGroupSetBits(group, random_below(8));
    xTaskResumeAll();
}

static void step(struct slot *self) {
    int message = 0;
    uint32_t value;
    if (--steps_left <= 0)
        trace_end();
    assign_any(catapults_thread(NULL));
    switch (random_below(34)) {
    case 0:
    case 1:
    case 2:
        taskYIELD();
        break;
    case 3:
    case 4:
        vTaskDelay(a_while());
        break;
    case 5: {
        TickType_t last = xTaskGetTickCount() - a_while();
        xTaskDelayUntil(&last, 1 + a_while()); /* it may be late */
        break;
    }
    case 6:
    case 7:
        xQueueSend(queue, &message, a_while());
        break;
    case 8:
    case 9:
        xQueueReceive(queue, &message, a_while());
        break;
    case 10:
        xQueuePeek(queue, &message, a_while());
        break;
    case 11:
        xSemaphoreTake(random_below(2) ? binary : counting, a_while());
        break;
    case 12:
        xSemaphoreGive(random_below(2) ? binary : counting);
        break;
    case 13:
    case 14:
    case 15:
        lock(self);
        break;
    case 16:
        xEventGroupSetBits(group, 1 + random_below(7));
        break;
    case 17:
        xEventGroupWaitBits(group, 1 + random_below(7), random_below(2), random_below(2), a_while());
        break;
    case 18:
        xEventGroupSync(group, 1 + random_below(7), 1 + random_below(7), a_while());
        break;
    case 19:
        ulTaskNotifyTake(random_below(2), a_while());
        break;
    case 20:
        xTaskNotifyWait(0, UINT32_MAX, &value, a_while());
        break;
    case 21:
        use_stream(self);
        break;
    case 22:
        while_suspended();
        break;
    case 23:
        xTimerStart(timer, 0);
        break;
    case 24:
    case 25:
        create();
        break;
    case 26:
        vTaskPrioritySet(NULL, random_below(4) ? 1 : random_below(4));
        break;
    default:
        meddle(random_below(8));
        break;
    }
}

static void body(void *argument) {
    struct slot *self = argument;
    self->task = xTaskGetCurrentTaskHandle();
    for (;;) {
        unsigned what = random_below(40);
        if (what == 0) {
            taskENTER_CRITICAL();
            self->deleted = unclean = true;
            self->task = NULL;
            taskEXIT_CRITICAL();
            vTaskDelete(NULL);
        } else if (what == 1) {
            vTaskSuspend(NULL);
        } else {
            step(self);
        }
    }
}

/* In the timer task, before all threads. */
static void timer_callback(TimerHandle_t which) {
    (void)which;
    meddle(random_below(8));
    xSemaphoreGive(binary);
}

static void keeper(void *argument) {
    (void)argument;
    for (unsigned turn = 0;; turn++) {
        for (int i = 0; i < SLOTS; i++) {
            taskENTER_CRITICAL();
            if (slots[i].task && random_below(2))
                vTaskResume(slots[i].task);
            taskEXIT_CRITICAL();
        }
        create();
        step(NULL);
        vTaskDelay(1);
    }
}

/* An interrupt. */
void vApplicationTickHook(void) {
    static unsigned tick;
    BaseType_t woken = pdFALSE;
    int message = 2;
    tick = tick * 1664525u + 1013904223u;
    struct slot *slot = &slots[(tick >> 8) % SLOTS];
    switch ((tick >> 16) % 6) {
    case 0:
        xQueueSendFromISR(queue, &message, &woken);
        break;
    case 1:
        xSemaphoreGiveFromISR(counting, &woken);
        break;
    case 2:
        if (slot->task)
            vTaskNotifyGiveFromISR(slot->task, &woken);
        break;
    case 3:
        if (slot->task)
            woken = xTaskResumeFromISR(slot->task);
        break;
    case 4:
        if (slot->task)
            xTaskNotifyFromISR(slot->task, 1, eSetBits, &woken);
        break;
    }
    if (woken)
        vTaskMissedYield();
}

/* The policy is out: the kernel goes on, but there is nothing more to compare. */
void test_policy_failed(unsigned line, const char *text) {
    (void)line, (void)text;
    trace_end();
}

int main(int count, char **words) {
    if (count != 3)
        return 2;
    steps_left = atol(words[1]);
    random_below(0);
    steps_left = atol(words[2]);
    queue = xQueueCreate(2, sizeof(int));
    mutexes[0] = xSemaphoreCreateMutex();
    mutexes[1] = xSemaphoreCreateMutex();
    recursive = xSemaphoreCreateRecursiveMutex();
    binary = xSemaphoreCreateBinary();
    counting = xSemaphoreCreateCounting(3, 0);
    group = xEventGroupCreate();
    stream = xStreamBufferCreate(8, 1);
    timer = xTimerCreate("timer", 1, random_below(2), NULL, timer_callback);
    create();
    BaseType_t done = xTaskCreate(keeper, "keeper", STACK, NULL, 1, NULL);
    if (done == pdFAIL)
        trace_end(); /* nothing would keep the others going */
    if (done != pdPASS)
        return 1;
    create();
    /* Before the scheduler starts, too. */
    if (slots[0].task)
        vTaskSuspend(slots[0].task);
    vTaskStartScheduler();
    return 1;
}
