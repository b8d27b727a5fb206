/*
 * Instructions for a switch, on a Cortex-M3 under QEMU: each instruction takes 256 ns there (-icount shift=8), and the
 * board counts at 25 MHz. Prints what a yield takes among 2 and among 8 tasks, and what a semaphore takes that goes
 * from one task to another and back.
 */
#include <stdint.h>

#include "FreeRTOS.h"
#include "semphr.h"
#include "task.h"

#define COUNTER (*(volatile uint32_t *)0x40028018)
#define PRESCALER (*(volatile uint32_t *)0x4002801C)
enum { ROUNDS = 1000, MOST = 8 };

static SemaphoreHandle_t forth, back;
static TaskHandle_t others[MOST];

/* No interrupts. */
void vPortSetupTimerInterrupt(void);
void vPortSetupTimerInterrupt(void) {}

static void call(int operation, const void *argument) {
    register int r0 __asm("r0") = operation;
    register const void *r1 __asm("r1") = argument;
    __asm volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}

static void print(const char *text) { call(4, text); }

static void print_number(uint32_t number) {
    char digits[12], *first = digits + sizeof digits - 1;
    *first = 0;
    do
        *--first = (char)('0' + number % 10);
    while (number /= 10);
    print(first);
}

/* One switch of `switches`, rounded. */
static void print_instructions(uint32_t counted, uint32_t switches) {
    print_number((uint32_t)(((uint64_t)counted * 10 / 64 + switches / 2) / switches));
    print(" ");
}

static void yields(void *argument) {
    (void)argument;
    for (;;)
        taskYIELD();
}

static void gives_back(void *argument) {
    (void)argument;
    for (;;) {
        xSemaphoreTake(forth, portMAX_DELAY);
        xSemaphoreGive(back);
    }
}

static uint32_t yielding(void) {
    uint32_t start = COUNTER;
    for (int i = 0; i < ROUNDS; i++)
        taskYIELD();
    return COUNTER - start;
}

static void measures(void *argument) {
    (void)argument;
    xTaskCreate(yields, "", 128, NULL, 1, &others[0]);
    taskYIELD();
    print_instructions(yielding(), 2 * ROUNDS);
    for (int i = 1; i < MOST - 1; i++)
        xTaskCreate(yields, "", 128, NULL, 1, &others[i]);
    taskYIELD();
    print_instructions(yielding(), MOST * ROUNDS);
    for (int i = 0; i < MOST - 1; i++)
        vTaskSuspend(others[i]);

    forth = xSemaphoreCreateBinary();
    back = xSemaphoreCreateBinary();
    xTaskCreate(gives_back, "", 128, NULL, 1, NULL);
    taskYIELD();
    uint32_t start = COUNTER;
    for (int i = 0; i < ROUNDS; i++) {
        xSemaphoreGive(forth);
        xSemaphoreTake(back, portMAX_DELAY);
    }
    print_instructions(COUNTER - start, 2 * ROUNDS);
    print("\n");
    call(0x18, (const void *)0x20026);
    for (;;)
        ;
}

int main(void) {
    PRESCALER = 0;
    xTaskCreate(measures, "", 256, NULL, 1, NULL);
    vTaskStartScheduler();
    return 1;
}
