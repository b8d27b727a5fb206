/*
 * void beneath_entry(void);                                     the end of each stub (sites.c)
 * void beneath_first(struct call *call);                        rdi; does not return
 * long beneath_child_on_stack(struct call *call);               rdi; what the kernel returns
 * void beneath_on_stack(void *top, void (*function)(void *), void *argument);
 *                                                               rdi, rsi, rdx; does not return
 * void beneath_vectors_save(struct vectors *to);                rdi
 * void beneath_vectors_load(const struct vectors *from);        rdi
 *
 * A site is where libc called the kernel. There is now a jump to a stub, which lowers the stack by the red zone, loads rcx
 * with the address behind the site, as the kernel does, and calls beneath_entry. Like the kernel it keeps all registers but rax,
 * rcx and r11; the vector registers are kept at switches only, because nothing here uses them.
 *
 * To unwinders this is the frame of a signal that came at the site. So a thread that is cancelled here is unwound as
 * NPTL unwinds one that the kernel has interrupted in its call: the stub itself is in no frame.
 *
 *        ┌──────────────────┐
 *        │ frames of libc   │
 *        ├──────────────────┤ ◄── the stack pointer at the site
 *        │ red zone, 128    │
 *    120 │ return to the stub
 *    112 │ rcx: the site    │
 *    104 │ rax: the number  │
 *    ... │                  │
 *      0 │ r15              │ ◄── struct call (call.h)
 *        └──────────────────┘
 */
#include <asm/unistd.h>

#define RED_ZONE 128

        .text

        .macro  push_as register
        pushq   %\register
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %\register, 0
        .endm

        .macro  pop_as register
        popq    %\register
        .cfi_adjust_cfa_offset -8
        .cfi_restore %\register
        .endm

        .globl  beneath_entry
        .type   beneath_entry, @function
        .p2align 6
beneath_entry:
        .cfi_startproc
        .cfi_signal_frame
        .cfi_def_cfa %rsp, RED_ZONE + 8
        .cfi_register %rip, %rcx
        pushq   %rcx
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %rip, 0
        push_as rax
        push_as rdi
        push_as rsi
        push_as rdx
        push_as r10
        push_as r8
        push_as r9
        push_as rbx
        push_as rbp
        push_as r12
        push_as r13
        push_as r14
        push_as r15
        cld
        movq    %rsp, %rdi
        movq    %rsp, %rbx
        .cfi_def_cfa_register %rbx
        andq    $-16, %rsp
        call    beneath_call
        movq    %rbx, %rsp
        .cfi_def_cfa_register %rsp
.Lback:
        pop_as  r15
        pop_as  r14
        pop_as  r13
        pop_as  r12
        pop_as  rbp
        pop_as  rbx
        pop_as  r9
        pop_as  r8
        pop_as  r10
        pop_as  rdx
        pop_as  rsi
        pop_as  rdi
        leaq    8(%rsp), %rsp
        .cfi_adjust_cfa_offset -8
        popq    %rcx
        .cfi_adjust_cfa_offset -8
        .cfi_register %rip, %rcx
        ret
        .cfi_endproc
        .size   beneath_entry, . - beneath_entry

        .globl  beneath_first
        .type   beneath_first, @function
        .p2align 4
beneath_first:
        .cfi_startproc
        .cfi_undefined %rip
        movq    %rdi, %rsp
        xorl    %eax, %eax
        jmp     .Lback
        .cfi_endproc
        .size   beneath_first, . - beneath_first

/* clone and clone3 without CLONE_THREAD, with a stack of the child's: it goes on at the site, there. The parent's frames are
 * not touched: it shares the memory. */
        .globl  beneath_child_on_stack
        .type   beneath_child_on_stack, @function
        .p2align 4
beneath_child_on_stack:
        .cfi_startproc
        push_as rbx
        push_as r12
        movq    %rdi, %r12
        movq    112(%r12), %rbx         /* the return to the stub */
        movq    96(%r12), %rax
        movq    88(%r12), %rdi
        movq    80(%r12), %rsi
        movq    72(%r12), %rdx
        movq    64(%r12), %r10
        movq    56(%r12), %r8
        movq    48(%r12), %r9
        syscall
        testq   %rax, %rax
        jz      1f
        pop_as  r12
        pop_as  rbx
        ret
1:      leaq    -RED_ZONE(%rsp), %rsp   /* which the stub adds */
        pushq   %rbx
        movq    40(%r12), %rbx
        movq    32(%r12), %rbp
        movq    16(%r12), %r13
        movq    8(%r12), %r14
        movq    0(%r12), %r15
        movq    24(%r12), %r12
        ret
        .cfi_endproc
        .size   beneath_child_on_stack, . - beneath_child_on_stack

        .globl  beneath_on_stack
        .type   beneath_on_stack, @function
        .p2align 4
beneath_on_stack:
        .cfi_startproc
        .cfi_undefined %rip
        movq    %rdi, %rsp
        xorl    %ebp, %ebp
        movq    %rdx, %rdi
        call    *%rsi
        ud2
        .cfi_endproc
        .size   beneath_on_stack, . - beneath_on_stack

/* What struct vectors has (vectors.h). */
#define CONTROL    0
#define ROUNDING   4
#define WHOLE      8
#define REGISTERS  16
#define AREA       320
#define COMPONENTS 0xe7         /* x87, SSE, AVX, AVX-512 */

        .macro  each instruction:req, save
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        .ifnb   \save
        \instruction %xmm\n, REGISTERS + \n * 16(%rdi)
        .else
        \instruction REGISTERS + \n * 16(%rdi), %xmm\n
        .endif
        .endr
        .endm

        .globl  beneath_vectors_save
        .type   beneath_vectors_save, @function
        .p2align 4
beneath_vectors_save:
        .cfi_startproc
        stmxcsr CONTROL(%rdi)
        fnstcw  ROUNDING(%rdi)
        cmpl    $0, WHOLE(%rdi)
        jne     1f
        each    movups, save
        ret
1:      movl    $COMPONENTS, %eax
        xorl    %edx, %edx
        xsavec  AREA(%rdi)
        vzeroall                        /* so that the next thread, if it uses less, is not slowed down by these */
        ret
        .cfi_endproc
        .size   beneath_vectors_save, . - beneath_vectors_save

        .globl  beneath_vectors_load
        .type   beneath_vectors_load, @function
        .p2align 4
beneath_vectors_load:
        .cfi_startproc
        cmpl    $0, WHOLE(%rdi)
        jne     1f
        ldmxcsr CONTROL(%rdi)
        fldcw   ROUNDING(%rdi)
        each    movups
        ret
1:      movl    $COMPONENTS, %eax
        xorl    %edx, %edx
        xrstor  AREA(%rdi)
        ret
        .cfi_endproc
        .size   beneath_vectors_load, . - beneath_vectors_load

        .section .note.GNU-stack, "", @progbits
