/*
 * The context switch. What SDCC keeps over a call is IX and the stack pointer; all else is saved by whoever calls.
 *
 *   stack of a thread that does not run:  IX │ return address │ …
 *                                         ▲── context, the second member of struct catapults_thread
 */
#include "library.h"

/* clang-format off */
void thread_switch(struct catapults_thread *next) __naked {
    (void)next; /* in HL */
    __asm
    push ix
    ex de, hl
    ld hl, #0
    add hl, sp
    ld ix, (_thread_running)
    ld 2 (ix), hl
    ex de, hl
    ld (_thread_running), hl
    ld hl, 2 (hl)
    ld sp, hl
    pop ix
    ret
    __endasm;
}
/* clang-format on */
