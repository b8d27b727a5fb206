/*
 * What debugging tools need to know about contexts. In a plain build all of this is nothing.
 *
 * AddressSanitizer needs the bounds of the stack that is switched to, and keeps a shadow of each stack. ThreadSanitizer
 * has a fiber for each context. Valgrind is told of each stack when it is first used (stack.c). All of it is in this
 * file, so that no other file asks how it is built, but for those of system calls (tools.c, system.c, system.S).
 */
#ifndef CATAPULTS_TOOLS_H
#define CATAPULTS_TOOLS_H

#include "contexts/stack.h"

/* A function that a handler of signals calls wherever the program is, even in the middle of a tool's own work: then the
 * tool must not be asked for anything. */
#define TOOLS_UNSEEN __attribute__((no_sanitize("thread"), no_sanitize("address"), no_sanitize("undefined")))

/* tools_use, tools_disuse: a block of memory of the runtime's own (memory.c) is taken, or given back.
 */
#if defined(__SANITIZE_ADDRESS__)

#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>

struct tools_context {
    void *shadow;       /* AddressSanitizer's fake stack, while the context does not run */
    const void *lowest; /* of the stack; NULL: not known yet, for the one that the system gave */
    size_t size;
};

/* The context that was just left. The one that arrives tells it the bounds of its stack, if that is the system's. */
__attribute__((weak)) struct tools_context *tools_left;

static inline void tools_new_stack(struct stack *stack) { (void)stack; }
static inline void tools_end_stack(struct stack *stack) { (void)stack; }
static inline void tools_make(struct tools_context *tools, struct stack *stack) {
    *tools = (struct tools_context){.lowest = stack->lowest, .size = stack_room(stack)};
    __asan_unpoison_memory_region(stack->lowest, stack_room(stack)); /* its last user may have left in mid-call */
}
static inline void tools_adopt(struct tools_context *tools) { *tools = (struct tools_context){0}; }
/* The context goes on on another stack for a while; `own` keeps what was known. */
static inline void tools_move(struct tools_context *tools, struct tools_context *own, void *lowest, size_t size) {
    *own = *tools;
    *tools = (struct tools_context){.lowest = lowest, .size = size};
}
static inline void tools_move_back(struct tools_context *tools, const struct tools_context *own) { *tools = *own; }
/* Then it goes on on its own stack, but not where it was left. Called by the code that leaves the other stack, and by
 * the code that arrives. */
static inline void tools_go(const struct tools_context *to) {
    if (to->lowest)
        __sanitizer_start_switch_fiber(NULL, to->lowest, to->size);
}
static inline void tools_come(const struct tools_context *self) {
    if (self->lowest)
        __sanitizer_finish_switch_fiber(NULL, NULL, NULL);
}
static inline void tools_clean(void *lowest, size_t size) { __asan_unpoison_memory_region(lowest, size); }
static inline void tools_use(void *block, size_t size) { __asan_unpoison_memory_region(block, size); }
static inline void tools_disuse(void *block, size_t size) { __asan_poison_memory_region(block, size); }
static inline void tools_leave(struct tools_context *from, struct tools_context *to) {
    tools_left = from;
    __sanitizer_start_switch_fiber(&from->shadow, to->lowest, to->size);
}
static inline void tools_end(struct tools_context *from, struct tools_context *to) {
    tools_left = from;
    __sanitizer_start_switch_fiber(NULL, to->lowest, to->size);
}
static inline void tools_arrive(struct tools_context *self) {
    const void *lowest;
    size_t size;
    __sanitizer_finish_switch_fiber(self->shadow, &lowest, &size);
    if (!tools_left->lowest) {
        tools_left->lowest = lowest;
        tools_left->size = size;
    }
}
static inline void tools_begin(void) {
    struct tools_context fresh = {0};
    tools_arrive(&fresh);
}

#elif defined(__SANITIZE_THREAD__)

#include <sanitizer/tsan_interface.h>

struct tools_context {
    void *fiber;
};

static inline void tools_new_stack(struct stack *stack) { stack->fiber = NULL; }
static inline void tools_end_stack(struct stack *stack) {
    if (stack->fiber)
        __tsan_destroy_fiber(stack->fiber);
}
static inline void tools_make(struct tools_context *tools, struct stack *stack) {
    if (stack->fiber) /* of the last user of the stack: none can destroy its own */
        __tsan_destroy_fiber(stack->fiber);
    tools->fiber = stack->fiber = __tsan_create_fiber(0);
}
static inline void tools_adopt(struct tools_context *tools) { tools->fiber = __tsan_get_current_fiber(); }
static inline void tools_move(struct tools_context *tools, struct tools_context *own, void *lowest, size_t size) {
    (void)tools, (void)own, (void)lowest, (void)size;
}
static inline void tools_move_back(struct tools_context *tools, const struct tools_context *own) {
    (void)tools, (void)own;
}
static inline void tools_go(const struct tools_context *to) { (void)to; }
static inline void tools_come(const struct tools_context *self) { (void)self; }
static inline void tools_clean(void *lowest, size_t size) { (void)lowest, (void)size; }
static inline void tools_use(void *block, size_t size) { (void)block, (void)size; }
static inline void tools_disuse(void *block, size_t size) { (void)block, (void)size; }
static inline void tools_leave(struct tools_context *from, struct tools_context *to) {
    (void)from;
    __tsan_switch_to_fiber(to->fiber, 0);
}
static inline void tools_end(struct tools_context *from, struct tools_context *to) { tools_leave(from, to); }
static inline void tools_arrive(struct tools_context *self) { (void)self; }
static inline void tools_begin(void) {}

#else

#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#else
#define VALGRIND_STACK_REGISTER(lowest, end) ((void)(lowest), (void)(end))
#define VALGRIND_MAKE_MEM_DEFINED(address, size) ((void)(address), (void)(size))
#define VALGRIND_MAKE_MEM_UNDEFINED(address, size) ((void)(address), (void)(size))
#define VALGRIND_MAKE_MEM_NOACCESS(address, size) ((void)(address), (void)(size))
#endif

struct tools_context {};

static inline void tools_new_stack(struct stack *stack) { VALGRIND_STACK_REGISTER(stack->lowest, stack); }
static inline void tools_end_stack(struct stack *stack) { (void)stack; }
static inline void tools_make(struct tools_context *tools, struct stack *stack) { (void)tools, (void)stack; }
static inline void tools_adopt(struct tools_context *tools) { (void)tools; }
static inline void tools_move(struct tools_context *tools, struct tools_context *own, void *lowest, size_t size) {
    (void)tools, (void)own, (void)lowest, (void)size;
}
static inline void tools_move_back(struct tools_context *tools, const struct tools_context *own) {
    (void)tools, (void)own;
}
static inline void tools_go(const struct tools_context *to) { (void)to; }
static inline void tools_come(const struct tools_context *self) { (void)self; }
static inline void tools_clean(void *lowest, size_t size) { (void)lowest, (void)size; }
static inline void tools_use(void *block, size_t size) { VALGRIND_MAKE_MEM_DEFINED(block, size); }
static inline void tools_disuse(void *block, size_t size) { VALGRIND_MAKE_MEM_NOACCESS(block, size); }
static inline void tools_leave(struct tools_context *from, struct tools_context *to) { (void)from, (void)to; }
static inline void tools_end(struct tools_context *from, struct tools_context *to) { (void)from, (void)to; }
static inline void tools_arrive(struct tools_context *self) { (void)self; }
static inline void tools_begin(void) {}

#endif

/* A handler of signals has the interrupted code go on with its stack as far as there: it grows there at once. */
static inline void tools_lower(void *lowest, size_t size) {
#ifdef VALGRIND_MAKE_MEM_UNDEFINED
    VALGRIND_MAKE_MEM_UNDEFINED(lowest, size);
#else
    (void)lowest, (void)size;
#endif
}

/* The kernel has written there, but not in a system call that a tool has seen. */
static inline void tools_written(const void *address, size_t size) {
#ifdef VALGRIND_MAKE_MEM_DEFINED
    VALGRIND_MAKE_MEM_DEFINED(address, size);
#else
    (void)address, (void)size;
#endif
}

#endif
