/*
 * int context_swap(void **save, void *load);         rdi, rsi; 0
 * int context_call(void **save, void *load);         rdi, rsi; 0
 * void context_resume(void *load);                   rdi
 * int context_return_by_jump(int result);            edi
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
 *     48 │ return address   │  pushed by the call of context_swap; in a new context, context_begin
 *     40 │ rbp              │
 *     32 │ rbx              │
 *     24 │ r12              │  in a new context: entry
 *     16 │ r13              │  in a new context: argument
 *      8 │ r14              │
 *      0 │ r15              │ ◄── what *save is set to, and `load` is
 *        └──────────────────┘
 *
 * How each goes on is how processors foresee best where. They predict a return to go where the last call came from that
 * has not returned, whatever the stack; jumps they predict from what happened before.
 *
 *   context_swap     jumps: it is jumped to itself by a thread that has nothing left to do but to return, and the last
 *                    call is that thread's.
 *   context_call     returns: threads that block mostly do so within the same calls, so the returns of the one that goes
 *                    on are those that are expected of the one that stops. Each that is not costs as much as a switch.
 *   context_resume   returns: a thread that ends, and has not been switched from since it began, has made as many
 *                    returns as calls, for it is begun and left by jumps. So the last call is that of context_call by the
 *                    thread that waits for the end.
 *   context_return_by_jump jumps, in the place of a return: for a function in which other threads have run, that were
 *                    left elsewhere.
 */
        .text

        .macro  save
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
        .endm

        .macro  load
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
        xorl    %eax, %eax
        .endm

        .macro  return_by_jump
        popq    %rcx
        .cfi_adjust_cfa_offset -8
        .cfi_register %rip, %rcx
        notrack jmp *%rcx
        .endm

        .globl  context_swap
        .type   context_swap, @function
        .p2align 4
context_swap:
        .cfi_startproc
        endbr64
        save
        movq    %rsi, %rsp              /* the same picture, on the other stack */
        load
        return_by_jump
        .cfi_endproc
        .size   context_swap, . - context_swap

        .globl  context_call
        .type   context_call, @function
        .p2align 4
context_call:
        .cfi_startproc
        endbr64
        save
        movq    %rsi, %rsp              /* the same picture, on the other stack */
        load
        leaq    4+context_begin(%rip), %rdx
        cmpq    %rdx, (%rsp)
        je      1f
        ret
1:      return_by_jump                  /* a new context has not called */
        .cfi_endproc
        .size   context_call, . - context_call

        .globl  context_resume
        .type   context_resume, @function
        .p2align 4
context_resume:
        .cfi_startproc
        endbr64
        movq    %rdi, %rsp
        .cfi_def_cfa_offset 56
        .cfi_offset %rbp, -16
        .cfi_offset %rbx, -24
        .cfi_offset %r12, -32
        .cfi_offset %r13, -40
        .cfi_offset %r14, -48
        .cfi_offset %r15, -56
        load
        ret
        .cfi_endproc
        .size   context_resume, . - context_resume

        .globl  context_return_by_jump
        .type   context_return_by_jump, @function
        .p2align 4
context_return_by_jump:
        .cfi_startproc
        endbr64
        movl    %edi, %eax
        return_by_jump
        .cfi_endproc
        .size   context_return_by_jump, . - context_return_by_jump

        .globl  context_begin
        .type   context_begin, @function
        .p2align 4
context_begin:
        .cfi_startproc
        .cfi_undefined %rip             /* nobody called: unwinding ends here */
        endbr64                         /* never run: unwinders look up the byte before a return address */
        movq    %r13, %rdi              /* CONTEXT_FILLER bytes on: a new context's return address */
        xorl    %ebp, %ebp
        leaq    1f(%rip), %rax          /* a call to all who look, but not to the prediction of returns */
        pushq   %rax
        notrack jmp *%r12
1:      ud2                             /* entry has returned, against context_make's condition */
        .cfi_endproc
        .size   context_begin, . - context_begin

        .globl  context_interposed
        .type   context_interposed, @function
        .p2align 4
context_interposed:
        .cfi_startproc
        .cfi_def_cfa %rsp, 56           /* the picture above: of the frame that was interposed upon */
        .cfi_offset %rbp, -16
        .cfi_offset %rbx, -24
        .cfi_offset %r12, -32
        .cfi_offset %r13, -40
        .cfi_offset %r14, -48
        .cfi_offset %r15, -56
        endbr64                         /* never run: see context_begin */
        movq    %rsp, %rbx              /* CONTEXT_FILLER bytes on */
        .cfi_def_cfa_register %rbx
        andq    $-16, %rsp
        xorl    %ebp, %ebp              /* for those who follow frames: what it was is not known yet */
        call    *%r12
        movq    %rbx, %rsp
        .cfi_def_cfa_register %rsp
        load
        return_by_jump
        .cfi_endproc
        .size   context_interposed, . - context_interposed

        .section .note.GNU-stack, "", @progbits
