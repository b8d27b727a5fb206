/*
 * Assembly: takes the thread in BC out of the list whose first link is at HL. Leaves HL and BC at the second byte of the link
 * and of the thread. A link to the thread is a `next` or the `first` of the list, and stands where the thread or list does that it
 * belongs to.
 */
/* clang-format off */
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
/* clang-format on */
