/* Out of the middle of a queue; see list_add.c. */
#include "../library.h"

/* clang-format off */
void catapults_list_remove(struct catapults_list *list, struct catapults_thread *t) __naked {
    (void)list, (void)t;
    __asm
    pop de
    pop bc
    push de
    push hl
#include "unlink.inc"
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
    __endasm; /* at most n - 1 turns */
}
/* clang-format on */
