/*
 * What the runtime takes from libc elsewhere (contexts/libc.h), beneath it. Threads have their own errno and exceptions
 * by %fs, which is exchanged. Nor may functions of libc run here: they use vector registers, and may be in the middle
 * of something.
 */
#include "contexts/libc.h"

#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "beneath/call.h"
#include "contexts/here.h"
#include "contexts/kernel_thread.h"

static int no_error_number;

int *libc_error_number(void) { return &no_error_number; }

void *libc_exceptions(void) { return NULL; }

/* At the start only. */
const char *libc_environment(const char *name) { return secure_getenv(name); }

/* A kernel thread that NPTL does not know of, for good: code of the application's runs on it as its own threads, by
 * their %fs.
 *
 *     struct kernel_thread │ its stack │ the stack on which threads end
 */
struct kernel_thread {
    struct here_block block;
    void *(*start)(void *argument);
    void *argument;
    char *last_stack;
};

static void begin(void *kernel_thread) {
    struct kernel_thread *self = kernel_thread;
    here_begin(&self->block, self->last_stack);
    self->start(self->argument);
}

int libc_make_thread(void *(*start)(void *), void *argument, size_t room) {
    enum { STACK = 64 << 10 };
    const long flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
    size_t stack = room > STACK ? (room + 63) & ~(size_t)63 : STACK;
    size_t size = ((sizeof(struct kernel_thread) + 63) & ~(size_t)63) + stack + LAST_STACK;
    struct kernel_thread *made =
        system_mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (system_failed(made))
        return system_error(made);
    made->start = start;
    made->argument = argument;
    made->block.here.beneath.done = here()->beneath.done; /* its rights are the caller's */
    made->last_stack = (char *)made + size;
    uint64_t mask = signal_mask(~UINT64_C(0)); /* which it inherits */
    long error = kernel_thread_make(flags, made->last_stack - LAST_STACK, begin, made, NULL);
    signal_mask(mask);
    if (error > 0)
        return 0;
    system_munmap(made, size); /* if it stays, it does no harm */
    return (int)-error;
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
