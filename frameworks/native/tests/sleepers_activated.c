/*
 * The same with activations.
 */
#define ACTIVATED
#include "sleepers.c"
