/*
 * Out of the middle of a queue; see list_add.c. A link to the thread is a `next` or the queue's `first`, and stands
 * where the thread or queue does that it belongs to.
 */
#include "../library.h"

/* clang-format off */
void catapults_list_remove(struct catapults_list *list, struct catapults_thread *t) __naked {
    (void)list, (void)t;
    __asm
    pop de
    pop bc
    push de
    push hl
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
    dec hl
    dec bc
    pop de
    ex de, hl
    inc hl
    inc hl
    ld a, (hl)
    cp a, c
    ret NZ
    inc hl
    ld a, (hl)
    cp a, b
    ret NZ
    ld (hl), d
    dec hl
    ld (hl), e
    ret
    __endasm;
}
/* clang-format on */
