#include "contexts/context.h"

#include "contexts/frame.h"

void context_make(struct context *context, struct stack *stack, void *top, void (*entry)(void *), void *argument) {
    struct context_frame *frame = (struct context_frame *)((char *)top - CONTEXT_ROOM) - 1;
    *frame = (struct context_frame){
        .entry = entry, .argument = argument, .resume = (void (*)(void))((char *)context_begin + CONTEXT_FILLER)};
    context->stack_pointer = frame;
    tools_make(&context->tools, stack);
}

void context_interpose(struct context *context, void (*function)(void)) {
    struct context_frame *frame = (struct context_frame *)context->stack_pointer - 1;
    *frame = (struct context_frame){.entry = (void (*)(void *))function,
                                    .resume = (void (*)(void))((char *)context_interposed + CONTEXT_FILLER)};
    context->stack_pointer = frame;
}
