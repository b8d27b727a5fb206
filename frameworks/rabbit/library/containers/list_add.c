/*
 * At the end of a queue. In assembly, because it is a part of most decisions: two arguments are one more than the
 * compiler keeps in registers. A thread begins with its `next`, a queue with its `first`.
 */
#include "../library.h"

/* clang-format off */
void catapults_list_add(struct catapults_list *list, struct catapults_thread *t) __naked {
    (void)list, (void)t; /* in HL; on the stack, whence the called function takes it */
    __asm
    pop de
    pop bc
    push de
    xor a, a
    ld (bc), a
    inc bc
    ld (bc), a
    dec bc
    ld a, (hl)
    inc hl
    or a, (hl)
    jr Z, 00001$
    inc hl
    ld e, (hl)
    inc hl
    ld d, (hl)
    ex de, hl
    ld (hl), c
    inc hl
    ld (hl), b
    ex de, hl
    ld (hl), b
    dec hl
    ld (hl), c
    ret
00001$:
    ld (hl), b
    dec hl
    ld (hl), c
    inc hl
    inc hl
    ld (hl), c
    inc hl
    ld (hl), b
    ret
    __endasm;
}
/* clang-format on */
