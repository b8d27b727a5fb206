/*
 * The thread library for Rabbit processors, on the simulator.
 */
#ifndef HOST_H
#define HOST_H

#include CATAPULTS_COMPILED_IN
#include "thread.h"

void host_spawn(void (*body)(uint8_t number), uint8_t number, uint8_t class);
void host_put(char character);
void host_end(void);

#define HOST_FIRST_LEAVES "exit"
#define host_yield() thread_yield()
/* A scheduler that knows nothing of the station imports nothing. */
#ifdef CATAPULTS_IMPORT_temperature
#define host_set_temperature(temperature) (void)(CATAPULTS_IMPORT_temperature = (temperature))
#else
#define host_set_temperature(temperature) (void)(temperature)
#endif

#endif
