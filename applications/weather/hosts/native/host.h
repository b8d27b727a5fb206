/*
 * The native runtime.
 */
#ifndef HOST_H
#define HOST_H

#include <stdint.h>

#include "catapults.h"
#include "pc.h"

extern catapults_int host_temperature;

void host_spawn(void (*body)(uint8_t number), uint8_t number, uint8_t class);

#define HOST_FIRST_LEAVES "exit"
#define host_yield() catapults_yield()
#define host_set_temperature(temperature) (void)(host_temperature = (temperature))

#endif
