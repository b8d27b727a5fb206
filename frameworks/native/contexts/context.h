/*
 * A context: what is left of a thread while it does not run. All of it is on its stack; the context is where that ends.
 *
 * The switch keeps the registers that a function call keeps, no more. Rounding modes and exception masks of the
 * floating-point unit are shared by all threads: the ABIs call them callee-saved, keeping them would add half to the
 * price of a switch, and programs that change them do so once, for all.
 */
#ifndef CATAPULTS_CONTEXT_H
#define CATAPULTS_CONTEXT_H

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
void context_make(struct context *context, struct stack *stack, void *top, void (*entry)(void *), void *argument);

/* Makes `context` that of the caller, on whatever stack the system gave it. */
static inline void context_adopt(struct context *context) { tools_adopt(&context->tools); }

/* When `context`, which does not run, is switched to next, `function` is called first, in the middle of whatever
 * switched from it. It begins with context_enter and ends with context_return. */
void context_interpose(struct context *context, void (*function)(void));
static inline void context_enter(struct context *self) { tools_arrive(&self->tools); }
static inline void context_return(struct context *self) { tools_leave(&self->tools, &self->tools); }

/* In assembly: keeps the caller's registers on its stack, and that stack's end in *save; goes on where `load` was left.
 */
void context_swap(void **save, void *load);

/* The same, for a caller that has something to do when it goes on, be it to return (see x86_64.S). */
void context_call(void **save, void *load);

/* Leaves `from`, the running context, and goes on with `to`. Returns when somebody switches back to `from`. */
static inline void context_switch(struct context *from, struct context *to) {
    tools_leave(&from->tools, &to->tools);
    context_swap(&from->stack_pointer, to->stack_pointer);
    tools_arrive(&from->tools);
}

static inline void context_switch_by_call(struct context *from, struct context *to) {
    tools_leave(&from->tools, &to->tools);
    context_call(&from->stack_pointer, to->stack_pointer);
    tools_arrive(&from->tools);
}

/* In assembly: goes on where `load` was left. Does not return; not to say so lets the compiler jump there. */
void context_resume(void *load);

/* The same as a switch, by a context that will never run again. Does not return. */
static inline void context_leave(struct context *from, struct context *to) {
    tools_end(&from->tools, &to->tools);
    context_resume(to->stack_pointer);
}

#endif
