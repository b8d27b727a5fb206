/*
 * The same with activations.
 */
#define ACTIVATED true
#include "order.c"
