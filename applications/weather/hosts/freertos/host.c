#include "host.h"

#include <stdlib.h>

#include "station.h"

/* Words. */
enum { STACK = 128 };

/* Of the board: a counter at 25 MHz, and what divides it. */
#define COUNTER (*(volatile uint32_t *)0x40028018)
#define PRESCALER (*(volatile uint32_t *)0x4002801c)

static StaticTask_t tasks[MOST_THREADS + 2]; /* by number */
static StackType_t stacks[MOST_THREADS + 2][STACK];
static void (*bodies[MOST_THREADS + 2])(uint8_t number);
static uint32_t began;

/* The emulator's, by which a program without devices speaks to the world. */
static void semihosting(uint32_t operation, const void *argument) {
    register uint32_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}

enum { SEMIHOSTING_WRITEC = 0x03, SEMIHOSTING_EXIT = 0x18, APPLICATION_EXIT = 0x20026 };

void host_put(char character) { semihosting(SEMIHOSTING_WRITEC, &character); }

/* In the place of the C library's, which would be a third of the program. */
void exit(int status) {
    (void)status;
    for (;;)
        semihosting(SEMIHOSTING_EXIT, (const void *)APPLICATION_EXIT);
}

/* An instruction takes 256 ns (tools/run), which is 6.4 of the counter. */
void host_end(void) {
    uint32_t instructions = (uint32_t)((uint64_t)(COUNTER - began) * 10 / 64), power = 1000000000;
#ifdef STATION_TRACE
    host_put('/'), host_put('/'), host_put(' ');
#endif
    for (const char *text = "duration "; *text; text++)
        host_put(*text);
    while (power > instructions && power > 1)
        power /= 10;
    for (; power; power /= 10)
        host_put((char)('0' + instructions / power % 10));
    for (const char *text = " instructions\n"; *text; text++)
        host_put(*text);
    exit(EXIT_SUCCESS);
}

#ifdef CATAPULTS_IMPORT_temperature
void host_set_temperature(uint8_t temperature) { CATAPULTS_IMPORT_temperature = temperature; }
#else
void host_set_temperature(uint8_t temperature) { (void)temperature; }
#endif

static void begin(void *argument) {
    uint8_t number = (uint8_t)(uintptr_t)argument;
    bodies[number](number);
    vTaskDelete(NULL);
}

void host_spawn(void (*body)(uint8_t number), uint8_t number, uint8_t class) {
    TaskHandle_t task;
    bodies[number] = body;
    task = xTaskCreateStatic(begin, "", STACK, (void *)(uintptr_t)number, 1, stacks[number], &tasks[number]);
#ifdef CATAPULTS_THREADIMPORT_threadclass
    CATAPULTS_THREADIMPORT_threadclass(catapults_thread(task)) = class;
#else
    (void)task, (void)class;
#endif
}

static void first(void *argument) {
    (void)argument;
    station_start(THREADS, CALCULATIONS);
    vTaskDelete(NULL);
}

int main(void) {
    PRESCALER = 0;
    began = COUNTER;
    xTaskCreateStatic(first, "", STACK, NULL, 1, stacks[1], &tasks[1]);
    vTaskStartScheduler();
    return 0;
}
