/*
 * For programs on the simulator: what is written to `console` controls it.
 */
#ifndef CATAPULTS_TESTS_SIMULATED_H
#define CATAPULTS_TESTS_SIMULATED_H

#include <stdint.h>

static volatile __at(0x7fff) uint8_t console;

static inline void print(char character) {
    console = 'p';
    console = character;
}

static inline void stop(void) { console = 's'; }

#endif
