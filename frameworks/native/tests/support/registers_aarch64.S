        .text
        .globl  registers_lost_by_swap
        .type   registers_lost_by_swap, %function
registers_lost_by_swap:
        sub     sp, sp, #176
        stp     x19, x20, [sp, #0]
        stp     x21, x22, [sp, #16]
        stp     x23, x24, [sp, #32]
        stp     x25, x26, [sp, #48]
        stp     x27, x28, [sp, #64]
        stp     x29, x30, [sp, #80]
        stp     d8, d9, [sp, #96]
        stp     d10, d11, [sp, #112]
        stp     d12, d13, [sp, #128]
        stp     d14, d15, [sp, #144]
        str     x2, [sp, #160]          // the seed
        .irp    n, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29
        add     x\n, x2, #\n
        .endr
        .irp    n, 8, 9, 10, 11, 12, 13, 14, 15
        add     x9, x2, #(100 + \n)
        fmov    d\n, x9
        .endr
        bl      context_swap
        ldr     x2, [sp, #160]
        mov     x0, #0
        .irp    n, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29
        add     x9, x2, #\n
        cmp     x\n, x9
        cinc    x0, x0, ne
        .endr
        .irp    n, 8, 9, 10, 11, 12, 13, 14, 15
        add     x9, x2, #(100 + \n)
        fmov    x10, d\n
        cmp     x10, x9
        cinc    x0, x0, ne
        .endr
        ldp     x19, x20, [sp, #0]
        ldp     x21, x22, [sp, #16]
        ldp     x23, x24, [sp, #32]
        ldp     x25, x26, [sp, #48]
        ldp     x27, x28, [sp, #64]
        ldp     x29, x30, [sp, #80]
        ldp     d8, d9, [sp, #96]
        ldp     d10, d11, [sp, #112]
        ldp     d12, d13, [sp, #128]
        ldp     d14, d15, [sp, #144]
        add     sp, sp, #176
        ret
        .size   registers_lost_by_swap, . - registers_lost_by_swap
        .section .note.GNU-stack, "", %progbits
