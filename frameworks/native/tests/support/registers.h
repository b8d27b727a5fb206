/*
 * Whether a switch keeps the registers that a call keeps. In assembly, for no C compiler can be told to leave them
 * alone.
 */
#ifndef CATAPULTS_REGISTERS_H
#define CATAPULTS_REGISTERS_H

#include <stdint.h>

/* Fills every register that a call keeps with values made of `seed`, calls context_swap(save, load), and returns how
 * many of them are not what they were when control comes back. */
uint64_t registers_lost_by_swap(void **save, void *load, uint64_t seed);

#endif
