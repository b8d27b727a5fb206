/*
 * GNU Pth.
 */
#ifndef HOST_H
#define HOST_H

#include <stdint.h>

#include "catapults_pth.h"
#include "pc.h"

extern catapults_int host_temperature;

void host_spawn(void (*body)(uint8_t number), uint8_t number, uint8_t class);

#define HOST_FIRST_LEAVES "block.message"
#define host_yield() (void)pth_yield(NULL)
#define host_set_temperature(temperature) (void)(host_temperature = (temperature))

#endif
