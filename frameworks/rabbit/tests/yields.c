/*
 * Two threads that yield to each other, TURNS times each. What another turn costs is what a yield costs, twice.
 */
#include "simulated.h"
#include "thread.h"

static uint8_t memory[2][96];

static void turns(void *argument) {
    (void)argument;
    for (uint8_t turn = TURNS; turn; turn--)
        thread_yield();
}

void main(void) {
    thread_init();
    thread_create(memory[0], sizeof(memory[0]), turns, 0);
    thread_create(memory[1], sizeof(memory[1]), turns, 0);
    thread_run();
    stop();
}
