/*
 * The same on several processors.
 */
#define SEVERAL
#include "thread_locals.c"
