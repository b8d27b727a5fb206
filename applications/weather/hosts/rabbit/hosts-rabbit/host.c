#include "host.h"

#include "station.h"

/* Bytes of a thread: its record and its stack. */
enum { MEMORY = 160 };

static uint8_t memory[MOST_THREADS + 1][MEMORY];
static void (*bodies[MOST_THREADS + 2])(uint8_t number);

/* The simulator's: what is written here controls it. */
static volatile __at(0x7fff) uint8_t console;

void host_put(char character) {
    console = 'p';
    console = character;
}

void host_end(void) { console = 's'; }

static void begin(void *argument) {
    uint8_t number = (uint8_t)(uintptr_t)argument;
    bodies[number](number);
}

void host_spawn(void (*body)(uint8_t number), uint8_t number, uint8_t class) {
    struct thread *thread;
    bodies[number] = body;
    thread = thread_create(memory[number - 1], MEMORY, begin, (void *)(uintptr_t)number);
#ifdef CATAPULTS_THREADIMPORT_threadclass
    CATAPULTS_THREADIMPORT_threadclass(thread) = class;
#else
    (void)thread, (void)class;
#endif
}

static void first(void *argument) {
    (void)argument;
    station_start(THREADS, CALCULATIONS);
}

void main(void) {
    thread_init();
    thread_create(memory[0], MEMORY, first, NULL);
    thread_run();
}
