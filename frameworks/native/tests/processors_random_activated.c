/*
 * The same with activations.
 */
#define ACTIVATED
#include "processors_random.c"
