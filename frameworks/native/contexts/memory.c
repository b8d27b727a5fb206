#include "contexts/memory.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "contexts/system.h"
#include "contexts/tools.h"

enum {
    SMALLEST = 4, /* log2 of the bytes of a block */
    LARGEST = 14, /* log2 of the largest that is cut from slabs */
    SLAB = 64 << 10,
    HEAD = 64 /* bytes before the first block */
};

/* At the beginning of each mapping. The mapping's address is a multiple of SLAB: so a block finds it. */
struct slab {
    size_t block, whole; /* bytes of a block, and of the mapping */
};

/* A block that nobody has. */
struct block {
    struct block *next;
};

/* By the log2 of the bytes. */
static struct block *idle[LARGEST + 1];
static struct {
    char *fresh, *end; /* what is not yet cut of the last slab */
} last[LARGEST + 1];

static struct slab *map(size_t whole, size_t block) {
    char *mapping = system_mmap(NULL, whole + SLAB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (system_failed(mapping))
        return NULL;
    size_t before = -(uintptr_t)mapping % SLAB;
    if (before > 0)
        system_munmap(mapping, before); /* if this fails, or the next, untouched addresses are wasted */
    system_munmap(mapping + before + whole, SLAB - before); /* see above */
    struct slab *slab = (struct slab *)(mapping + before);
    *slab = (struct slab){.block = block, .whole = whole};
    return slab;
}

static void *cut(int order) {
    size_t size = (size_t)1 << order;
    if ((size_t)(last[order].end - last[order].fresh) < size) {
        char *slab = (char *)map(SLAB, size);
        if (!slab)
            return NULL;
        last[order].fresh = slab + HEAD;
        last[order].end = slab + SLAB;
    }
    char *block = last[order].fresh;
    last[order].fresh += size;
    return block;
}

static void *take_mapping(size_t size) {
    if (size > PTRDIFF_MAX / 2)
        return NULL;
    struct slab *slab = map((size + HEAD + SLAB - 1) & ~(size_t)(SLAB - 1), size);
    return slab ? (char *)slab + HEAD : NULL;
}

void *memory_take(size_t size) {
    int order = size <= (size_t)1 << SMALLEST ? SMALLEST : 64 - __builtin_clzl(size - 1);
    if (order > LARGEST)
        return take_mapping(size);
    struct block *block = idle[order];
    if (!block)
        return cut(order);
    tools_use(block, (size_t)1 << order);
    idle[order] = block->next;
    return memset(block, 0, (size_t)1 << order);
}

void memory_give(void *given) {
    if (!given)
        return;
    struct slab *slab = (struct slab *)((uintptr_t)given & ~(uintptr_t)(SLAB - 1));
    if (slab->block > (size_t)1 << LARGEST) {
        if (system_munmap(slab, slab->whole) != 0)            /* too many mappings: release at least its pages */
            system_madvise(slab, slab->whole, MADV_DONTNEED); /* if that fails too, it stays */
        return;
    }
    struct block *block = given, **first = &idle[63 - __builtin_clzl(slab->block)];
    block->next = *first;
    *first = block;
    tools_disuse(block, slab->block);
}
