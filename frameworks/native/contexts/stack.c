#include "contexts/stack.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "contexts/system.h"
#include "contexts/tools.h"

/* Since Linux 6.13: guards that do not split the mapping. Glibc's headers may be older than the kernel. */
#define GUARD_INSTALL 102
/* Since Linux 6.14: stands for the process itself where a pidfd is asked for. */
#define PROCESS_SELF (-10001)

enum {
    SMALLEST = 14, /* log2 of the bytes of the smallest stack */
    LARGEST = 40,
    SLAB = 4 << 20,     /* bytes of a mapping, unless a single stack is larger */
    AT_HAND = 64 << 20, /* bytes of idle stacks that keep their pages, however few stacks are in use */
    COLOURS = 16,
    COLOUR_STEP = 128 /* bytes: two lines of a cache, which are fetched in pairs */
};

static struct stack_pool pools[LARGEST + 1];
bool stack_excess;

/* The kind of guard pages that this kernel has. */
static enum { UNKNOWN, LIGHT, HEAVY } guards;

static bool cool(struct stack_pool *pool);
static size_t add_range(struct iovec *ranges, size_t count, const struct stack *stack);
static struct stack *cut(struct stack_pool *pool, size_t size);
static struct stack *lay_out(char *base, size_t size, uint64_t name);
static bool map_slab(struct stack_pool *pool, size_t size);
static bool advise_all(struct iovec *ranges, size_t count, int advice);
static bool install_guard(char *page);
static bool kernel_can_read(char *page);

static size_t page_size(void) {
    static size_t size;
    return size ? size : (size = getauxval(AT_PAGESZ));
}

struct stack_pool *stack_pool(size_t size) {
    int order = size <= (size_t)1 << SMALLEST ? SMALLEST : 64 - __builtin_clzl(size - 1);
    return order <= LARGEST ? &pools[order] : NULL;
}

static size_t size_of(const struct stack_pool *pool) { return (size_t)1 << (pool - pools); }

/* With the guard page. Not a power of two: the ends of the stacks, each on a page of its own, would compete for the
 * same few entries of the TLB. */
static size_t whole_of(size_t size) { return size + page_size(); }

struct stack *stack_warm(struct stack_pool *pool) {
    size_t size = size_of(pool);
    const struct cold_stack *cold = pool->cold_count > 0 ? &pool->cold[--pool->cold_count] : NULL;
    struct stack *stack = cold ? lay_out(cold->base, size, cold->name) : cut(pool, size);
    if (stack)
        pool->in_use++;
    return stack;
}

bool stack_cool(void) {
    for (struct stack_pool *pool = &pools[SMALLEST]; stack_excess && pool <= &pools[LARGEST]; pool++)
        if (pool->idle_count >= pool->in_use + STACK_BATCH && pool->idle_count >= AT_HAND / size_of(pool) + STACK_BATCH)
            return cool(pool);
    return stack_excess = false;
}

/* Releases the pages of a batch of idle stacks. The stack given back last is not among them: its owner may be running
 * on it. False: there is no memory to record them, and they stay as they are. */
static bool cool(struct stack_pool *pool) {
    if (pool->cold_room - pool->cold_count < STACK_BATCH) {
        size_t room = pool->cold_room > 0 ? 2 * pool->cold_room : page_size() / sizeof *pool->cold;
        void *more = pool->cold_room > 0 ? system_mremap(pool->cold, pool->cold_room * sizeof *pool->cold,
                                                         room * sizeof *pool->cold, MREMAP_MAYMOVE)
                                         : system_mmap(NULL, room * sizeof *pool->cold, PROT_READ | PROT_WRITE,
                                                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (system_failed(more))
            return stack_excess = false; /* until more are given back */
        pool->cold = more;
        pool->cold_room = room;
    }
    struct stack *keep = pool->idle;
    struct iovec ranges[STACK_BATCH];
    size_t count = 0;
    for (int i = 0; i < STACK_BATCH; i++) {
        struct stack *stack = keep->next;
        keep->next = stack->next;
        tools_end_stack(stack);
        pool->cold[pool->cold_count + (size_t)i] = (struct cold_stack){stack->base, stack->name};
        count = add_range(ranges, count, stack);
    }
    pool->cold_count += STACK_BATCH;
    pool->idle_count -= STACK_BATCH;
    advise_all(ranges, count, MADV_DONTNEED);
    return true;
}

/* Joins the stack with the last range if they are neighbours, as stacks that end one after the other mostly are. The
 * page in between goes along: one range costs a fraction of two. Guards outlast this. */
static size_t add_range(struct iovec *ranges, size_t count, const struct stack *stack) {
    char *begin = stack->lowest, *end = begin + stack->size;
    if (count > 0) {
        struct iovec *last = &ranges[count - 1];
        char *last_begin = last->iov_base, *last_end = last_begin + last->iov_len;
        if (end + page_size() == last_begin || last_end + page_size() == begin) {
            last->iov_base = begin < last_begin ? begin : last_begin;
            last->iov_len += page_size() + stack->size;
            return count;
        }
    }
    ranges[count] = (struct iovec){begin, stack->size};
    return count + 1;
}

/* A stack that nobody has used yet. */
static struct stack *cut(struct stack_pool *pool, size_t size) {
    if (pool->fresh == pool->end && !map_slab(pool, size))
        return NULL;
    char *base = pool->fresh;
    if (!pool->guarded && !install_guard(base))
        return NULL;
    pool->fresh += whole_of(size);
    struct stack *stack = lay_out(base, size, STACK_UNNAMED);
    tools_new_stack(stack);
    return stack;
}

/* The stack's place says its colour, so that it is laid out alike whenever it comes into use again. */
static struct stack *lay_out(char *base, size_t size, uint64_t name) {
    size_t index = (uintptr_t)base / whole_of(size);
    size_t colour = (index + index / COLOURS + index / COLOURS / COLOURS) % COLOURS * COLOUR_STEP;
    struct stack *stack = (struct stack *)(base + whole_of(size) - colour % (size / 16)) - 1;
    stack = (struct stack *)((uintptr_t)stack & ~(uintptr_t)63);
    *stack = (struct stack){
        .pool = stack_pool(size), .base = base, .lowest = base + page_size(), .size = size, .name = name};
    return stack;
}

static bool map_slab(struct stack_pool *pool, size_t size) {
    size_t whole = whole_of(size), count = whole > SLAB ? 1 : SLAB / whole, bytes = count * whole;
    char *slab = system_mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (system_failed(slab))
        return false;
    system_madvise(slab, bytes, MADV_NOHUGEPAGE); /* a huge page would back 32 stacks that use one page each */
    pool->fresh = slab;
    pool->end = slab + bytes;
    struct iovec pages[SLAB >> SMALLEST];
    for (size_t i = 0; i < count; i++)
        pages[i] = (struct iovec){slab + i * whole, page_size()};
    pool->guarded = guards == LIGHT && advise_all(pages, count, GUARD_INSTALL);
    return true;
}

/* In one system call if the kernel can do that; otherwise in one for each range. */
static bool advise_all(struct iovec *ranges, size_t count, int advice) {
    static bool unknown; /* to this kernel: ENOSYS, or EBADF for PROCESS_SELF */
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += ranges[i].iov_len;
    ssize_t advised = unknown ? -ENOSYS : system_process_madvise(PROCESS_SELF, ranges, count, advice, 0);
    if (advised == (ssize_t)bytes)
        return true;
    unknown = advised == -ENOSYS || advised == -EBADF;
    bool all = true;
    for (size_t i = 0; i < count; i++)
        all = system_madvise(ranges[i].iov_base, ranges[i].iov_len, advice) == 0 && all;
    return all;
}

static bool install_guard(char *page) {
    if (guards == UNKNOWN) /* old kernels refuse the advice, and emulators ignore it */
        guards = system_madvise(page, page_size(), GUARD_INSTALL) == 0 && !kernel_can_read(page) ? LIGHT : HEAVY;
    return guards == LIGHT ? system_madvise(page, page_size(), GUARD_INSTALL) == 0
                           : system_mprotect(page, page_size(), PROT_NONE) == 0;
}

/* True also if the kernel does not let us ask. */
static bool kernel_can_read(char *page) {
    char byte;
    struct iovec to = {&byte, 1}, from = {page, 1};
    return system_process_vm_readv(system_getpid(), &to, 1, &from, 1, 0) != -EFAULT;
}
