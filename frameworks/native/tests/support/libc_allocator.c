/*
 * libc's allocator, for programs with activations: whoever calls it within the runtime, where the processor is held,
 * ends the program, which says so (see contexts/memory.h). What libc itself allocates counts, too. Sanitizers have
 * allocators of their own.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "activations/activation.h"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

void *__libc_malloc(size_t size), *__libc_calloc(size_t count, size_t size), *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *memory);

static void check(const char *function, const void *caller) {
    if (!sa_here() || !atomic_load(&activations.enabled) || atomic_load(&sa_here()->hold_depth) == 0)
        return;
    char line[128];
    int length = snprintf(line, sizeof line, "libc's %s within the runtime, called from %p\n", function, caller);
    if (write(STDERR_FILENO, line, (size_t)length) == length)
        abort();
    _exit(EXIT_FAILURE);
}

#define CHECK(function) check(function, __builtin_return_address(0))

void *malloc(size_t size) {
    CHECK("malloc");
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    CHECK("calloc");
    return __libc_calloc(count, size);
}

void *realloc(void *old, size_t size) {
    CHECK("realloc");
    return __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    CHECK("aligned_alloc");
    return __libc_memalign(alignment, size);
}

void *memalign(size_t alignment, size_t size) {
    CHECK("memalign");
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **result, size_t alignment, size_t size) {
    CHECK("posix_memalign");
    *result = __libc_memalign(alignment, size);
    return *result ? 0 : ENOMEM;
}

void free(void *memory) {
    if (memory)
        CHECK("free");
    __libc_free(memory);
}

#endif
