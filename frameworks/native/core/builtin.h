/*
 * The built-in FIFO: the policy of a program that has none, or whose policy is out. Written by hand, so that it cannot
 * share a fault with the compiler.
 */
#ifndef CATAPULTS_CORE_BUILTIN_H
#define CATAPULTS_CORE_BUILTIN_H

#include "native_policy.h"

/* Its handlers never stop. It keeps nothing in a thread beyond struct catapults_thread. */
extern const struct catapults_policy dispatcher_builtin;

/* Bytes of its instance, aligned to 16. */
#define DISPATCHER_BUILTIN_INSTANCE 32

#endif
