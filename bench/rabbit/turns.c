/*
 * What a decision costs: the threads of the weather station, when it is warm, do nothing but yield. TURNS in all;
 * between two numbers of turns lie nothing but turns.
 */
#include CATAPULTS_COMPILED_IN
#include "thread.h"

enum { THREADS = 6, MEMORY = 128 };

static uint8_t memory[THREADS][MEMORY];
static const uint8_t classes[THREADS] = {3, 4, 4, 1, 2, 1};
static uint16_t left = TURNS;

/* The simulator's: what is written here controls it. */
static volatile __at(0x7fff) uint8_t console;

static void turn(void *argument) {
    (void)argument;
    while (--left)
        thread_yield();
    console = 's';
}

void main(void) {
    thread_init();
    for (uint8_t i = 0; i < THREADS; i++) {
        struct thread *thread = thread_create(memory[i], MEMORY, turn, NULL);
#ifdef CATAPULTS_THREADIMPORT_threadclass
        CATAPULTS_THREADIMPORT_threadclass(thread) = classes[i];
#else
        (void)thread;
#endif
    }
#ifdef CATAPULTS_IMPORT_temperature
    CATAPULTS_IMPORT_temperature = 120;
#endif
    thread_run();
}
