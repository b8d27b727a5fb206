/* Out of the middle of a stack, as list_remove.c out of a queue. */
#include "../library.h"

/* clang-format off */
void catapults_stack_remove(struct catapults_stack *stack, struct catapults_thread *t) __naked {
    (void)stack, (void)t;
    __asm
    pop de
    pop bc
    push de
00001$:
    ld a, (hl)
    inc hl
    cp a, c
    jr NZ, 00002$
    ld a, (hl)
    cp a, b
    jr Z, 00003$
00002$:
    ld d, (hl)
    dec hl
    ld e, (hl)
    ex de, hl
    jr 00001$
00003$:
    dec hl
    ld a, (bc)
    ld (hl), a
    inc hl
    inc bc
    ld a, (bc)
    ld (hl), a
    ret
    __endasm;
}
/* clang-format on */
