/*
 * void sa_on_stack(void *top, void (*function)(void *), void *argument);        rdi, rsi, rdx; no return
 * void sa_trap(void);
 *
 * sa_trap is where the kernel leads an activation that was armed and comes back from the kernel (see activation.h). All registers
 * are those of the context that comes back; below the stack pointer it may have 128 bytes in use. It sends itself the
 * layer's signal, whose handler parks the context, and then goes on where it came back to:
 *
 *        ┌──────────────────┐ ◄── the stack pointer of the context
 *        │ red zone         │
 *    136 ├──────────────────┤
 *     48 │ where to go on   │
 *     40 │ rax rcx rdx rsi  │
 *        │ rdi r11          │ ◄── rsp
 *        └──────────────────┘
 */
#define SYS_nanosleep 35
#define SYS_tgkill 234
#define LWP_PID 0
#define LWP_TID 4
#define LWP_SIGNAL 8
#define LWP_RETURN 16

        .text

        .globl  sa_on_stack
        .type   sa_on_stack, @function
        .p2align 4
sa_on_stack:
        .cfi_startproc
        .cfi_undefined %rip
        endbr64
        movq    %rdi, %rsp
        andq    $-16, %rsp
        xorl    %ebp, %ebp
        movq    %rdx, %rdi
        call    *%rsi
        ud2
        .cfi_endproc
        .size   sa_on_stack, . - sa_on_stack

        .globl  sa_trap, sa_trap_end
        .type   sa_trap, @function
        .p2align 4
        .long   0x53053053              /* RSEQ_SIG: the kernel leads nowhere without it */
sa_trap:
        .cfi_startproc
        .cfi_signal_frame
        leaq    -136(%rsp), %rsp
        .cfi_def_cfa %rsp, 136
        .cfi_offset %rip, -136
        pushq   %rax
        pushq   %rcx
        pushq   %rdx
        pushq   %rsi
        pushq   %rdi
        pushq   %r11
        .cfi_def_cfa_offset 184
        movq    sa_here@gottpoff(%rip), %rax
        movq    %fs:(%rax), %rax
        movq    LWP_RETURN(%rax), %rcx
        movq    %rcx, 48(%rsp)
        movl    LWP_PID(%rax), %edi
        movl    LWP_TID(%rax), %esi
        movl    LWP_SIGNAL(%rax), %edx
        movl    $SYS_tgkill, %eax
        syscall
        popq    %r11
        popq    %rdi
        popq    %rsi
        popq    %rdx
        popq    %rcx
        popq    %rax
        .cfi_def_cfa_offset 136
        ret     $128
sa_trap_end:
        .cfi_endproc
        .size   sa_trap, . - sa_trap

/*
 * int sa_probe(const struct timespec *moment);                                  rdi; 1: led to sa_probe_trap
 *
 * Sleeps, armed at sa_probe_return.
 */
        .globl  sa_probe, sa_probe_return, sa_probe_trap
        .type   sa_probe, @function
        .p2align 4
sa_probe:
        .cfi_startproc
        endbr64
        xorl    %esi, %esi
        movl    $SYS_nanosleep, %eax
        syscall
sa_probe_return:
        xorl    %eax, %eax
        ret
        .long   0x53053053
sa_probe_trap:
        movl    $1, %eax
        ret
        .cfi_endproc
        .size   sa_probe, . - sa_probe

        .section .note.GNU-stack, "", @progbits
