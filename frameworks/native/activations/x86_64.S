/*
 * void sa_on_stack(void *top, void (*function)(void *), void *argument);        rdi, rsi, rdx; no return
 * void sa_traps(void);
 *
 * sa_traps are where the kernel leads an activation that was armed and comes back from the kernel: the n-th for what goes on at
 * sa_places[n] (see traps.h). All registers are those of the context that comes back; below the stack pointer it may have 128 bytes in
 * use. There it sends itself the layer's signal. The handler, of this or another signal, undoes what has been done here so far, so that
 * the context is where it came back to, and parks it. Where signals are masked it goes on there by itself. Nothing here changes flags.
 *
 *        ┌──────────────────┐ ◄── the stack pointer of the context
 *        │ red zone         │
 *    136 ├──────────────────┤
 *     48 │ n; where to go on│ ◄── rsp at sa_trap, and from sa_trap_restored on
 *        │ r11 rdi rsi      │
 *      0 │ rdx rcx rax      │ ◄── rsp in between
 *        └──────────────────┘
 *
 * From sa_trap on the registers are saved, from sa_trap_saved on used, and from sa_trap_restored on as they were.
 */
#include "activations/traps.h"

#define SYS_nanosleep 35
#define SYS_tgkill 234
#define HERE_ACTIVATION 8
#define LWP_PID 0
#define LWP_TID 4
#define LWP_SIGNAL 8

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

        .globl  sa_traps, sa_traps_end
        .type   sa_traps, @function
        .p2align 4
sa_traps:
        .cfi_startproc
        .cfi_undefined %rip
        .set    n, 0
        .rept   TRAPS_COUNT
        .long   0x53053053              /* RSEQ_SIG: the kernel leads nowhere without it */
        leaq    -128(%rsp), %rsp
        .byte   0x68                    /* pushq $n, however small */
        .long   n
        .byte   0xe9                    /* jmp sa_trap, however near */
        .long   sa_trap - . - 4
        .byte   0xcc
        .set    n, n + 1
        .endr
sa_traps_end:
        .cfi_endproc
        .if     . - sa_traps - TRAPS_COUNT * TRAPS_SIZE
        .error  "traps.h"
        .endif
        .size   sa_traps, . - sa_traps

        .globl  sa_trap, sa_trap_saved, sa_trap_restored, sa_trap_end
        .type   sa_trap, @function
        .p2align 4
sa_trap:
        .cfi_startproc
        .cfi_signal_frame
        .cfi_def_cfa %rsp, 136
        .cfi_offset %rip, -136
        leaq    -48(%rsp), %rsp
        .cfi_def_cfa_offset 184
        movq    %rax, (%rsp)
        movq    %rcx, 8(%rsp)
        movq    %rdx, 16(%rsp)
        movq    %rsi, 24(%rsp)
        movq    %rdi, 32(%rsp)
        movq    %r11, 40(%rsp)
sa_trap_saved:
        movslq  48(%rsp), %rax
        leaq    sa_places(%rip), %rcx
        movq    (%rcx, %rax, 8), %rcx
        movq    %rcx, 48(%rsp)
        movq    here_variables@gottpoff(%rip), %rax
        movq    %fs:HERE_ACTIVATION(%rax), %rcx
        jrcxz   alone                   /* in a child of fork */
        movl    LWP_PID(%rcx), %edi
        movl    LWP_TID(%rcx), %esi
        movl    LWP_SIGNAL(%rcx), %edx
        movl    $SYS_tgkill, %eax
        syscall
alone:
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
