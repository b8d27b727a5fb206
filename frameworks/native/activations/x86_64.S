/*
 * void sa_on_stack(void *top, void (*function)(void *), void *argument);        rdi, rsi, rdx; no return
 * void sa_trap(void);
 *
 * sa_trap is where the kernel leads an activation that was armed and comes back from the kernel (see activation.h). All registers
 * are those of the context that comes back; below the stack pointer it may have 128 bytes in use. It sends itself the
 * layer's signal. The handler, of this or another signal, undoes what has been done here so far, so that the context is where it
 * came back to, and parks it. Where signals are masked it goes on there by itself.
 *
 *        ┌──────────────────┐ ◄── the stack pointer of the context
 *        │ red zone         │
 *    136 ├──────────────────┤
 *     48 │ where to go on   │
 *        │ r11 rdi rsi      │
 *      0 │ rdx rcx rax      │ ◄── rsp
 *        └──────────────────┘
 *
 * From sa_trap on the registers are saved, from sa_trap_saved on used, and from sa_trap_restored on as they were.
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

        .globl  sa_trap, sa_trap_saved, sa_trap_restored, sa_trap_end
        .type   sa_trap, @function
        .p2align 4
        .long   0x53053053              /* RSEQ_SIG: the kernel leads nowhere without it */
sa_trap:
        .cfi_startproc
        .cfi_signal_frame
        leaq    -184(%rsp), %rsp
        .cfi_def_cfa %rsp, 184
        .cfi_offset %rip, -136
        movq    %rax, (%rsp)
        movq    %rcx, 8(%rsp)
        movq    %rdx, 16(%rsp)
        movq    %rsi, 24(%rsp)
        movq    %rdi, 32(%rsp)
        movq    %r11, 40(%rsp)
sa_trap_saved:
        movq    sa_here@gottpoff(%rip), %rax
        movq    %fs:(%rax), %rax
        movq    LWP_RETURN(%rax), %rcx
        movq    %rcx, 48(%rsp)
        movl    LWP_PID(%rax), %edi
        movl    LWP_TID(%rax), %esi
        movl    LWP_SIGNAL(%rax), %edx
        movl    $SYS_tgkill, %eax
        syscall
        movq    40(%rsp), %r11
        movq    32(%rsp), %rdi
        movq    24(%rsp), %rsi
        movq    16(%rsp), %rdx
        movq    8(%rsp), %rcx
        movq    (%rsp), %rax
        leaq    48(%rsp), %rsp
        .cfi_def_cfa_offset 136
sa_trap_restored:
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
