/* FreeRTOS. Every lock there is of the protocol `inheritance`. */
#include "FreeRTOS.h"
#include "program.h"
#include "semphr.h"
#include "task.h"

#include <unistd.h>

static SemaphoreHandle_t locks[MOST], semaphores[MOST];
static int left;

static void must(BaseType_t done) {
    if (done != pdPASS)
        abort();
}

static void act(void *kind) {
    program_do((int)(intptr_t)kind);
    if (--left == 0) {
        taskENTER_CRITICAL();
        program_print();
        _exit(0);
    }
    vTaskDelete(NULL);
}

static void host_create(int kind, int priority) {
    must(xTaskCreate(act, "task", configMINIMAL_STACK_SIZE, (void *)(intptr_t)kind, (UBaseType_t)priority, NULL));
}

static void host_make_lock(int lock, char protocol) {
    if (protocol != 'i' || !(locks[lock] = xSemaphoreCreateMutex()))
        abort();
}

static void host_make_semaphore(int semaphore, int value) {
    semaphores[semaphore] = xSemaphoreCreateCounting(MOST, (UBaseType_t)value);
}

static void host_lock(int lock) { must(xSemaphoreTake(locks[lock], portMAX_DELAY)); }
static void host_unlock(int lock) { must(xSemaphoreGive(locks[lock])); }
static void host_wait(int semaphore) { must(xSemaphoreTake(semaphores[semaphore], portMAX_DELAY)); }
static void host_post(int semaphore) { must(xSemaphoreGive(semaphores[semaphore])); }
static void host_send(int receiver) { (void)receiver, abort(); }
static void host_receive(int receiver) { (void)receiver, abort(); }
static void host_yield(void) { taskYIELD(); }

void test_policy_failed(unsigned line, const char *text) {
    fprintf(stderr, "line %u: %s\n", line, text);
    abort();
}

int main(int count, char **words) {
    left = count - 3;
    program_read(count, words);
    host_create(0, program_priority(0));
    vTaskStartScheduler();
    return 1;
}
