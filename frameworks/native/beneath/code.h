/*
 * Changing a program's code where it lies: memory near it, and what is written there and beside it.
 */
#ifndef CATAPULTS_BENEATH_CODE_H
#define CATAPULTS_BENEATH_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CODE_PAGE = 4096, CODE_JUMP = 5 /* bytes of one to anywhere near */ };

/* What callers say when the kernel refuses: its remedy is the same everywhere. */
extern const char code_unwritable[];

/* Memory for `size` bytes that a jump from the address reaches, to be written. The second makes it code. Both return
 * NULL, or what is wrong. */
const char *code_take_near(uintptr_t address, size_t size, uint8_t **memory);
const char *code_finish(uint8_t *memory, size_t size);

/* Both return what follows. */
uint8_t *code_put(uint8_t *to, const void *bytes, size_t size);
uint8_t *code_put_jump(uint8_t *to, const uint8_t *target);

/* There is a jump to `stub` instead of the instructions of this size. False: the kernel refuses. */
bool code_divert(uint8_t *code, size_t size, const uint8_t *stub);

#endif
