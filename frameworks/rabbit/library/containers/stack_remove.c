/* Out of the middle of a stack, as list_remove.c out of a queue. */
#include "../library.h"

/* clang-format off */
void catapults_stack_remove(struct catapults_stack *stack, struct catapults_thread *t) __naked {
    (void)stack, (void)t;
    __asm
    pop de
    pop bc
    push de
#include "unlink.inc"
    ret
    __endasm; /* at most n - 1 turns */
}
/* clang-format on */
