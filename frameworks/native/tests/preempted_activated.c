/*
 * The same with activations.
 */
#define ACTIVATED
#include "preempted.c"
