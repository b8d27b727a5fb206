/*
 * The same with activations: signals come by upcalls.
 */
#define ACTIVATED
#include "processors_signals_handlers.c"
