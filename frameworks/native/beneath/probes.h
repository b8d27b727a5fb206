/*
 * Probes: places of a program's functions at which a variable of the running thread changes. A policy imports it.
 */
#ifndef CATAPULTS_BENEATH_PROBES_H
#define CATAPULTS_BENEATH_PROBES_H

#include "beneath/sites.h"

/* Puts those of the object with this number in the table, which is loaded at `base` and begins at `begin`. NULL, or
 * what is wrong. */
const char *probes_put(const struct sites_table *table, uint32_t object, uintptr_t base, uintptr_t begin);

#endif
