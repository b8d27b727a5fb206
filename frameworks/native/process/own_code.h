/*
 * Which code is the application's, and may be left at any instruction: what this layer answers when the layer below
 * asks (preemption_may_be_left). See own_code.c.
 */
#ifndef CATAPULTS_PROCESS_OWN_CODE_H
#define CATAPULTS_PROCESS_OWN_CODE_H

#include <stdbool.h>
#include <stdint.h>

/* Finds the executable's code; called once, before the rest. Returns 0, or why none may be left: EINVAL (`runtime` is
 * an address of the runtime's code, and was not linked with text.ld), ENOTSUP (the program is linked statically: its
 * libc cannot be told from its own code), EBUSY (malloc is the executable's own, and would be left halfway, also when
 * the runtime or libc has called it). */
int own_code_start(const void *runtime);

/* Whether the instruction belongs to the executable but not to the runtime, or to an object that was registered. May be
 * called in any handler of signals. */
bool own_code_has(uintptr_t instruction);

/* Registers the object (a library, the executable) that the address is in: all its code may be left at any
 * instruction. ENOENT: there is no such object, ENOSPC: too many. */
int own_code_register(const void *address);

#endif
