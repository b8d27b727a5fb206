/*
 * FreeRTOS on a Cortex-M3.
 */
#ifndef HOST_H
#define HOST_H

#include <stdint.h>

#include "FreeRTOS.h"
#include "task.h"

void host_spawn(void (*body)(uint8_t number), uint8_t number, uint8_t class);
void host_put(char character);
void host_end(void);
void host_set_temperature(uint8_t temperature);

#define HOST_FIRST_LEAVES "exit"
#define host_yield() taskYIELD()

#endif
