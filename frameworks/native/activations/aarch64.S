/*
 * void sa_on_stack(void *top, void (*function)(void *), void *argument);        x0, x1, x2; no return
 *
 * There is no sa_trap: what comes back from the kernel is caught by timers. The program counter cannot be set without
 * losing a register here, but by a signal's return.
 */
        .text
        .globl  sa_on_stack
        .type   sa_on_stack, %function
        .p2align 4
sa_on_stack:
        .cfi_startproc
        .cfi_undefined x30
        and     x0, x0, #-16
        mov     sp, x0
        mov     x29, xzr
        mov     x30, xzr
        mov     x0, x2
        blr     x1
        brk     #1
        .cfi_endproc
        .size   sa_on_stack, . - sa_on_stack

        .section .note.GNU-stack, "", %progbits
