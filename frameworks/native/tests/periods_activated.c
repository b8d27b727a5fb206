/*
 * The same on activations.
 */
#define ACTIVATIONS true
#include "periods.c"
