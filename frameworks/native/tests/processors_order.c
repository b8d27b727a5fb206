/*
 * The same with several processors.
 */
#define PROCESSORS 3
#include "order.c"
