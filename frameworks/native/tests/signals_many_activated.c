/*
 * The same with activations: signals come by upcalls.
 */
#define ACTIVATED
#include "signals_many.c"
