/*
 * What the runtime takes from libc elsewhere (contexts/libc.h), beneath it. Threads have their own errno and exceptions
 * by %fs, which is exchanged. Nor may functions of libc run here: they use vector registers, and may be in the middle
 * of something.
 */
#include "contexts/libc.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static int no_error_number;

int *libc_error_number(void) { return &no_error_number; }

void *libc_exceptions(void) { return NULL; }

/* At the start only. */
const char *libc_environment(const char *name) { return secure_getenv(name); }

/* There is one kernel thread. */
int libc_make_thread(void *(*start)(void *), void *argument, size_t room) {
    (void)start, (void)argument, (void)room;
    return ENOTSUP;
}

void *memset(void *to, int value, size_t size) {
    void *next = to;
    __asm__ volatile("rep stosb" : "+D"(next), "+c"(size) : "a"(value) : "memory");
    return to;
}

void *memcpy(void *restrict to, const void *restrict from, size_t size) {
    void *next = to;
    __asm__ volatile("rep movsb" : "+D"(next), "+S"(from), "+c"(size) : : "memory");
    return to;
}

int memcmp(const void *one, const void *other, size_t size) {
    const uint8_t *a = one, *b = other;
    for (size_t i = 0; i < size; i++)
        if (a[i] != b[i])
            return a[i] - b[i];
    return 0;
}
