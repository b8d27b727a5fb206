/*
 * void context_swap(void **save, void *load);        rdi, rsi
 * void context_begin(void);
 *
 * What a context that does not run has on its stack (struct context_frame):
 *
 *          higher addresses
 *        ┌──────────────────┐
 *        │ frames of the    │
 *        │ thread           │
 *        ├──────────────────┤
 *     48 │ return address   │  pushed by the call of context_swap; in a new context, context_begin
 *     40 │ rbp              │
 *     32 │ rbx              │
 *     24 │ r12              │  in a new context: entry
 *     16 │ r13              │  in a new context: argument
 *      8 │ r14              │
 *      0 │ r15              │ ◄── what *save is set to, and `load` is
 *        └──────────────────┘
 *
 * A jump rather than `ret`: processors predict a return to go where the last call came from, which is the thread that is
 * left. Jumps they predict from what happened before.
 */
        .text

        .globl  context_swap
        .type   context_swap, @function
        .p2align 4
context_swap:
        .cfi_startproc
        endbr64
        pushq   %rbp
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %rbp, 0
        pushq   %rbx
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %rbx, 0
        pushq   %r12
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %r12, 0
        pushq   %r13
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %r13, 0
        pushq   %r14
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %r14, 0
        pushq   %r15
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %r15, 0
        movq    %rsp, (%rdi)
        movq    %rsi, %rsp              /* the same picture, on the other stack */
        popq    %r15
        .cfi_adjust_cfa_offset -8
        .cfi_restore %r15
        popq    %r14
        .cfi_adjust_cfa_offset -8
        .cfi_restore %r14
        popq    %r13
        .cfi_adjust_cfa_offset -8
        .cfi_restore %r13
        popq    %r12
        .cfi_adjust_cfa_offset -8
        .cfi_restore %r12
        popq    %rbx
        .cfi_adjust_cfa_offset -8
        .cfi_restore %rbx
        popq    %rbp
        .cfi_adjust_cfa_offset -8
        .cfi_restore %rbp
        popq    %rcx
        .cfi_adjust_cfa_offset -8
        .cfi_register %rip, %rcx
        notrack jmp *%rcx
        .cfi_endproc
        .size   context_swap, . - context_swap

        .globl  context_begin
        .type   context_begin, @function
        .p2align 4
context_begin:
        .cfi_startproc
        .cfi_undefined %rip             /* nobody called: unwinding ends here */
        endbr64                         /* never run: unwinders look up the byte before a return address */
        movq    %r13, %rdi              /* CONTEXT_FILLER bytes on: a new context's return address */
        xorl    %ebp, %ebp
        callq   *%r12
        ud2                             /* entry has returned, against context_make's condition */
        .cfi_endproc
        .size   context_begin, . - context_begin

        .section .note.GNU-stack, "", @progbits
