/*
 * System calls as functions: see system.h, which declares them. What a function gets in rcx, the kernel takes from r10.
 */
#include <asm/unistd.h>

        .text

#if defined(__x86_64__)

        .macro  system_call name, number
        .globl  \name
        .type   \name, @function
        .p2align 4
\name:
        .cfi_startproc
        movl    $\number, %eax
        movq    %rcx, %r10
        syscall
        ret
        .cfi_endproc
        .size   \name, . - \name
        .endm

/* Where handlers of signals return to. No call-frame information: unwinders and debuggers recognize a signal's frame by
 * these very instructions, gdb only if the name has `sigaction` in it. */
        .hidden system_sigaction_return
        .globl  system_sigaction_return
        .type   system_sigaction_return, @function
        nop
system_sigaction_return:
        movq    $__NR_rt_sigreturn, %rax
        syscall
        .size   system_sigaction_return, . - system_sigaction_return

#elif defined(__aarch64__)

        .macro  system_call name, number
        .globl  \name
        .type   \name, %function
        .p2align 4
\name:
        .cfi_startproc
        mov     x8, #\number
        svc     #0
        ret
        .cfi_endproc
        .size   \name, . - \name
        .endm

#endif

/* The nops: there is code of the runtime on both sides, whatever is linked before and behind. */
        .globl  system_apart, system_apart_end
        nop
        .p2align 4
system_apart:
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* else see tools.c */
        system_call system_mmap, __NR_mmap
        system_call system_mremap, __NR_mremap
        system_call system_munmap, __NR_munmap
        system_call system_mprotect, __NR_mprotect
        system_call system_madvise, __NR_madvise
        system_call system_process_madvise, __NR_process_madvise
        system_call system_process_vm_readv, __NR_process_vm_readv

        system_call system_openat, __NR_openat
        system_call system_close, __NR_close
        system_call system_read, __NR_read
        system_call system_write, __NR_write
        system_call system_readv, __NR_readv
        system_call system_writev, __NR_writev
        system_call system_preadv, __NR_preadv
        system_call system_pwritev, __NR_pwritev
        system_call system_preadv2, __NR_preadv2
        system_call system_pwritev2, __NR_pwritev2
        system_call system_fstat, __NR_fstat
        system_call system_fsync, __NR_fsync
        system_call system_fcntl, __NR_fcntl
        system_call system_sendfile, __NR_sendfile

        system_call system_recvfrom, __NR_recvfrom
        system_call system_sendto, __NR_sendto
        system_call system_sendmsg, __NR_sendmsg
        system_call system_accept4, __NR_accept4
        system_call system_connect, __NR_connect
        system_call system_getsockopt, __NR_getsockopt

        system_call system_eventfd2, __NR_eventfd2
        system_call system_ppoll, __NR_ppoll
        system_call system_epoll_create1, __NR_epoll_create1
        system_call system_epoll_ctl, __NR_epoll_ctl
        system_call system_epoll_pwait, __NR_epoll_pwait
        system_call system_epoll_pwait2, __NR_epoll_pwait2
#endif
system_apart_end:
        nop

/* See kernel_thread.h; rdi, rsi, rdx, rcx, r8; x0 to x4. */
#if defined(__x86_64__)
        .globl  kernel_thread_make
        .type   kernel_thread_make, @function
        .p2align 4
kernel_thread_make:
        .cfi_startproc
        endbr64
        movq    %rdx, -16(%rsi)
        movq    %rcx, -8(%rsi)
        leaq    -16(%rsi), %rsi
        xorl    %edx, %edx
        movq    %r8, %r10
        xorl    %r8d, %r8d
        movl    $__NR_clone, %eax
        syscall
        testq   %rax, %rax
        jz      1f
        ret
1:      .cfi_undefined %rip
        xorl    %ebp, %ebp
        popq    %rax
        popq    %rdi
        call    *%rax
        ud2
        .cfi_endproc
        .size   kernel_thread_make, . - kernel_thread_make
#elif defined(__aarch64__)
        .globl  kernel_thread_make
        .type   kernel_thread_make, %function
        .p2align 4
kernel_thread_make:
        .cfi_startproc
        stp     x2, x3, [x1, #-16]!
        mov     x2, xzr
        mov     x3, xzr
        mov     x8, #__NR_clone
        svc     #0
        cbz     x0, 1f
        ret
1:      .cfi_undefined x30
        mov     x29, xzr
        ldp     x1, x0, [sp], #16
        blr     x1
        brk     #1
        .cfi_endproc
        .size   kernel_thread_make, . - kernel_thread_make
#endif

        .section .note.GNU-stack, "", %progbits
