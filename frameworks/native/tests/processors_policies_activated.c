/*
 * The same with activations: all that goes with them.
 */
#define ACTIVATED
#include "processors_policies.c"
