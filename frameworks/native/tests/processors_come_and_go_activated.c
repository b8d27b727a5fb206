/*
 * The same with activations, which are told of their CPUs by upcalls.
 */
#define ACTIVATED
#include "processors_come_and_go.c"
