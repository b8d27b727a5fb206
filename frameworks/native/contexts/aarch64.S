/*
 * int context_swap(void **save, void *load);         x0, x1; 0
 * int context_call(void **save, void *load);         the same
 * void context_resume(void *load);                   x0
 * int context_return_by_jump(int result);            w0
 * void context_begin(void);
 * void context_interposed(void);
 *
 * What a context that does not run has on its stack (struct context_frame):
 *
 *          higher addresses
 *        ┌──────────────────┐
 *        │ frames of the    │
 *        │ thread           │
 *        ├──────────────────┤
 *     96 │ d8 … d15         │  the halves that a call keeps
 *     88 │ x30              │  return address; in a new context, context_begin
 *     80 │ x29              │  frame pointer
 *     16 │ x21 … x28        │
 *      8 │ x20              │  in a new context: argument
 *      0 │ x19              │  in a new context: entry
 *        └──────────────────┘ ◄── what *save is set to, and `load` is
 */
        .text

        .globl  context_swap
        .type   context_swap, %function
        .p2align 4
context_swap:
        .cfi_startproc
        sub     sp, sp, #160
        .cfi_adjust_cfa_offset 160
        stp     x19, x20, [sp, #0]
        .cfi_rel_offset x19, 0
        .cfi_rel_offset x20, 8
        stp     x21, x22, [sp, #16]
        .cfi_rel_offset x21, 16
        .cfi_rel_offset x22, 24
        stp     x23, x24, [sp, #32]
        .cfi_rel_offset x23, 32
        .cfi_rel_offset x24, 40
        stp     x25, x26, [sp, #48]
        .cfi_rel_offset x25, 48
        .cfi_rel_offset x26, 56
        stp     x27, x28, [sp, #64]
        .cfi_rel_offset x27, 64
        .cfi_rel_offset x28, 72
        stp     x29, x30, [sp, #80]
        .cfi_rel_offset x29, 80
        .cfi_rel_offset x30, 88
        stp     d8, d9, [sp, #96]
        .cfi_rel_offset d8, 96
        .cfi_rel_offset d9, 104
        stp     d10, d11, [sp, #112]
        .cfi_rel_offset d10, 112
        .cfi_rel_offset d11, 120
        stp     d12, d13, [sp, #128]
        .cfi_rel_offset d12, 128
        .cfi_rel_offset d13, 136
        stp     d14, d15, [sp, #144]
        .cfi_rel_offset d14, 144
        .cfi_rel_offset d15, 152
        mov     x9, sp
        str     x9, [x0]
        mov     sp, x1                  // the same picture, on the other stack
.Lload:
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
        add     sp, sp, #160
        .cfi_def_cfa_offset 0
        mov     w0, #0
        ret
        .cfi_endproc
        .size   context_swap, . - context_swap

        .globl  context_call
        .type   context_call, %function
        .set    context_call, context_swap

        .globl  context_resume
        .type   context_resume, %function
        .p2align 4
context_resume:
        .cfi_startproc
        mov     sp, x0
        b       .Lload
        .cfi_endproc
        .size   context_resume, . - context_resume

        .globl  context_return_by_jump
        .type   context_return_by_jump, %function
        .p2align 4
context_return_by_jump:
        .cfi_startproc
        br      x30
        .cfi_endproc
        .size   context_return_by_jump, . - context_return_by_jump

        .globl  context_begin
        .type   context_begin, %function
        .p2align 4
context_begin:
        .cfi_startproc
        .cfi_undefined x30              // nobody called: unwinding ends here
        nop                             // never run: unwinders look up the byte before a return address
        mov     x0, x20                 // CONTEXT_FILLER bytes on: a new context's return address
        mov     x29, #0
        mov     x30, #0
        blr     x19
        brk     #1                      // entry has returned, against context_make's condition
        .cfi_endproc
        .size   context_begin, . - context_begin

        .globl  context_interposed
        .type   context_interposed, %function
        .p2align 4
context_interposed:
        .cfi_startproc
        .cfi_def_cfa sp, 160            // the picture above: of the frame that was interposed upon
        .cfi_offset x19, -160
        .cfi_offset x20, -152
        .cfi_offset x21, -144
        .cfi_offset x22, -136
        .cfi_offset x23, -128
        .cfi_offset x24, -120
        .cfi_offset x25, -112
        .cfi_offset x26, -104
        .cfi_offset x27, -96
        .cfi_offset x28, -88
        .cfi_offset x29, -80
        .cfi_offset x30, -72
        .cfi_offset d8, -64
        .cfi_offset d9, -56
        .cfi_offset d10, -48
        .cfi_offset d11, -40
        .cfi_offset d12, -32
        .cfi_offset d13, -24
        .cfi_offset d14, -16
        .cfi_offset d15, -8
        nop                             // never run: see context_begin
        mov     x20, sp                 // CONTEXT_FILLER bytes on
        .cfi_def_cfa_register x20
        mov     x29, #0                 // for those who follow frames: what it was is not known yet
        blr     x19
        mov     x0, x20
        b       context_resume
        .cfi_endproc
        .size   context_interposed, . - context_interposed

        .section .note.GNU-stack, "", %progbits
