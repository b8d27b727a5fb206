/*
 * The same with activations: all that needs no preemption by time.
 */
#define ACTIVATED
#pragma GCC diagnostic ignored "-Wunused-function"
#include "processors.c"
