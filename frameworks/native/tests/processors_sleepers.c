/*
 * The same with two processors.
 */
#define PROCESSORS 2
#include "sleepers.c"
