/*
 * The same with the policy compiled into the dispatcher (the Makefile links such a dispatcher into this test).
 */
#include <stddef.h>

#define POLICY NULL
#include "usage.c"
