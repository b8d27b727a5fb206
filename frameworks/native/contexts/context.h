/*
 * A context: what is left of a thread while it does not run. All of it is on its stack; the context is where that ends.
 *
 * The switch keeps the registers that a function call keeps, no more. All threads share the rounding modes and
 * exception masks of the floating-point unit. The ABIs call them callee-saved, but keeping them would add half to the
 * price of a switch, and programs that change them do so once, for all.
 */
#ifndef CATAPULTS_CONTEXT_H
#define CATAPULTS_CONTEXT_H

#include "contexts/frame.h"
#include "contexts/stack.h"
#include "contexts/tools.h"

struct context {
    void *stack_pointer; /* where the switch left the registers; meaningless while the context runs */
    struct tools_context tools;
};

/*
 * Prepares `context` to call `entry(argument)`, on the stack whose highest free byte lies below `top` (aligned to 16),
 * when it is first switched to. `entry` must not return. The stack is the caller's, and must stay while the context is
 * in use.
 */
static inline void context_make(struct context *context, struct stack *stack, void *top, void (*entry)(void *),
                                void *argument) {
    struct context_frame *frame = (struct context_frame *)((char *)top - CONTEXT_ROOM) - 1;
    frame->entry = entry;
    frame->argument = argument;
    frame->resume = (void (*)(void))((char *)context_begin + CONTEXT_FILLER); /* which reads nothing else */
    context->stack_pointer = frame;
    tools_make(&context->tools, stack);
}

/* Makes `context` that of the caller, on whatever stack the system gave it. */
static inline void context_adopt(struct context *context) { tools_adopt(&context->tools); }

/* When `context`, which does not run, is next switched to, it first calls `function`, in the middle of whatever
 * switched from it. That begins with context_enter and ends with context_return. */
static inline void context_interpose(struct context *context, void (*function)(void)) {
    struct context_frame *frame = (struct context_frame *)context->stack_pointer - 1;
    frame->entry = (void (*)(void *))function;
    frame->resume = (void (*)(void))((char *)context_interposed + CONTEXT_FILLER);
    context->stack_pointer = frame;
}
static inline void context_enter(struct context *self) { tools_arrive(&self->tools); }
static inline void context_return(struct context *self) { tools_leave(&self->tools, &self->tools); }

/* In assembly: keeps the caller's registers on its stack, and that stack's end in *save; goes on where `load` was left.
 * Returns 0, so that a function that returns 0 can end in it. */
int context_swap(void **save, void *load);

/* The same, for a caller that has something to do when it goes on, even if only to return (see x86_64.S). */
int context_call(void **save, void *load);

/* In assembly: returns its argument. A function ends in it if threads have run meanwhile that were left elsewhere: its
 * return cannot be foreseen as others can (see x86_64.S). */
int context_return_by_jump(int result);

/* Leaves `from`, the running context, and goes on with `to`. Returns 0 when a thread switches back to `from`. */
static inline int context_switch(struct context *from, struct context *to) {
    tools_leave(&from->tools, &to->tools);
    int result = context_swap(&from->stack_pointer, to->stack_pointer);
    tools_arrive(&from->tools);
    return result;
}

static inline int context_switch_by_call(struct context *from, struct context *to) {
    tools_leave(&from->tools, &to->tools);
    int result = context_call(&from->stack_pointer, to->stack_pointer);
    tools_arrive(&from->tools);
    return result;
}

/* In assembly: goes on where `load` was left. Does not return, but is not declared so: that lets the compiler jump
 * there. */
void context_resume(void *load);

/* A switch by a context that will never run again. Does not return. */
static inline void context_leave(struct context *from, struct context *to) {
    tools_end(&from->tools, &to->tools);
    context_resume(to->stack_pointer);
}

#endif
