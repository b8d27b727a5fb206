#include "contexts/stack.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "contexts/tools.h"

/* Since Linux 6.13: guards that do not split the mapping. Glibc's headers may be older than the kernel. */
#define GUARD_INSTALL 102

enum {
    SMALLEST = 14, /* log2 of the bytes of the smallest stack */
    LARGEST = 40,
    SLAB = 4 << 20, /* bytes of a mapping, unless a single stack is larger */
    COLOURS = 32,
    COLOUR_STEP = 128 /* bytes: two lines of a cache, which are fetched in pairs */
};

/* The stacks of one size. */
struct pool {
    struct stack *free;
    char *fresh, *end; /* what has not been cut yet of the last slab */
};

static struct pool pools[LARGEST + 1];

static struct stack *cut(struct pool *pool, size_t size);
static int map_slab(struct pool *pool, size_t size);
static int install_guard(char *page);
static int kernel_can_read(char *page);

struct stack *stack_take(size_t size) {
    int order = SMALLEST;
    while (order < LARGEST && ((size_t)1 << order) < size)
        order++;
    size_t whole = (size_t)1 << order;
    if (whole < size)
        return NULL;
    struct pool *pool = &pools[order];
    struct stack *stack = pool->free;
    if (!stack)
        return cut(pool, whole);
    pool->free = stack->next;
    return stack;
}

void stack_give(struct stack *stack) {
    struct pool *pool = &pools[__builtin_ctzl(stack->size)];
    stack->next = pool->free;
    pool->free = stack;
}

/* A stack that nobody has used. */
static struct stack *cut(struct pool *pool, size_t size) {
    static unsigned count;
    if (pool->fresh == pool->end && !map_slab(pool, size))
        return NULL;
    char *base = pool->fresh;
    if (!install_guard(base))
        return NULL;
    pool->fresh += size;
    size_t colour = count++ % COLOURS * COLOUR_STEP;
    struct stack *stack = (struct stack *)(base + size - colour % (size / 16)) - 1;
    stack = (struct stack *)((uintptr_t)stack & ~(uintptr_t)63);
    *stack = (struct stack){.base = base, .lowest = base + sysconf(_SC_PAGESIZE), .size = size};
    tools_new_stack(stack);
    return stack;
}

static int map_slab(struct pool *pool, size_t size) {
    size_t bytes = size > SLAB ? size : SLAB;
    char *slab =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (slab == MAP_FAILED)
        return 0;
    madvise(slab, bytes, MADV_NOHUGEPAGE); /* a huge page would back 32 stacks of which a page each is in use */
    pool->fresh = slab;
    pool->end = slab + bytes;
    return 1;
}

static int install_guard(char *page) {
    static enum { UNKNOWN, LIGHT, HEAVY } kind; /* of guards that this kernel has */
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    if (kind == UNKNOWN) /* old kernels refuse the advice, and emulators ignore it */
        kind = madvise(page, size, GUARD_INSTALL) == 0 && !kernel_can_read(page) ? LIGHT : HEAVY;
    return kind == LIGHT ? madvise(page, size, GUARD_INSTALL) == 0 : mprotect(page, size, PROT_NONE) == 0;
}

/* True also where the kernel does not let us ask. */
static int kernel_can_read(char *page) {
    char byte;
    struct iovec to = {&byte, 1}, from = {page, 1};
    return process_vm_readv(getpid(), &to, 1, &from, 1, 0) != -1 || errno != EFAULT;
}
