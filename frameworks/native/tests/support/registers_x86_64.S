        .text
        .globl  registers_lost_by_swap
        .type   registers_lost_by_swap, @function
registers_lost_by_swap:
        pushq   %rbp
        pushq   %rbx
        pushq   %r12
        pushq   %r13
        pushq   %r14
        pushq   %r15
        pushq   %rdx                    /* the seed; the stack is aligned now */
        leaq    1(%rdx), %rbp
        leaq    2(%rdx), %rbx
        leaq    3(%rdx), %r12
        leaq    4(%rdx), %r13
        leaq    5(%rdx), %r14
        leaq    6(%rdx), %r15
        call    context_swap
        popq    %rdx
        xorl    %eax, %eax
        .macro  compare register, difference
        leaq    \difference(%rdx), %rcx
        cmpq    %rcx, \register
        setne   %cl
        movzbl  %cl, %ecx
        addq    %rcx, %rax
        .endm
        compare %rbp, 1
        compare %rbx, 2
        compare %r12, 3
        compare %r13, 4
        compare %r14, 5
        compare %r15, 6
        popq    %r15
        popq    %r14
        popq    %r13
        popq    %r12
        popq    %rbx
        popq    %rbp
        ret
        .size   registers_lost_by_swap, . - registers_lost_by_swap
        .section .note.GNU-stack, "", @progbits
