/*
 * System calls without libc. They leave errno alone: results from -4095 to -1 are error numbers, negated.
 *
 * There are two kinds, because activations take the processor from a kernel thread that is blocked in the kernel, but
 * not from one that is blocked there in the runtime's own code, in which it may wait for its turn:
 *
 *   system_call, and what is inline here: part of the runtime's own code
 *   the functions of system.S: no part of it, as libc's functions are not. These calls may wait for a disk, a page or a
 *   peer. Tests replace some, and builds for sanitizers all (tools.c): handlers of signals that must not be put off
 *   call none of them
 */
#ifndef CATAPULTS_SYSTEM_H
#define CATAPULTS_SYSTEM_H

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>

/* Handlers of signals that tools must not see call these, too. */
#define SYSTEM_INLINE static inline __attribute__((always_inline))

SYSTEM_INLINE long system_call(long number, long a, long b, long c, long d) {
#if defined(__x86_64__)
    register long r10 __asm__("r10") = d;
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
    return result;
#elif defined(__aarch64__)
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
    return x0;
#else
#error "how does a program call the kernel on this machine? Say so here and in system.S"
#endif
}

/* For a call with more. */
SYSTEM_INLINE long system_call_6(long number, long a, long b, long c, long d, long e, long f) {
#if defined(__x86_64__)
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    register long r10 __asm__("r10") = d;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
#elif defined(__aarch64__)
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;
    __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    return x0;
#endif
}

/* The range of system.S. */
extern const char system_apart[], system_apart_end[];

SYSTEM_INLINE bool system_is_apart(uint64_t instruction) {
    return instruction - (uintptr_t)system_apart < (uintptr_t)(system_apart_end - system_apart);
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

void *system_mmap(void *address, size_t size, long protection, long flags, long descriptor, off_t offset);
void *system_mremap(void *address, size_t size, size_t new_size, long flags);
int system_munmap(void *address, size_t size);
int system_mprotect(void *address, size_t size, long protection);
int system_madvise(void *address, size_t size, int advice);
ssize_t system_process_madvise(int process, const struct iovec *ranges, size_t count, int advice, unsigned flags);
ssize_t system_process_vm_readv(pid_t process, const struct iovec *to, size_t to_count, const struct iovec *from,
                                size_t from_count, unsigned long flags);

/* Whether the result is an error instead of an address. */
SYSTEM_INLINE bool system_failed(const void *address) { return (uintptr_t)address > -(uintptr_t)4096; }
SYSTEM_INLINE int system_error(const void *address) { return (int)-(intptr_t)address; }

/* ---- Signals ----------------------------------------------------------------------------------------------------- */

/* Sets of signals are words: signal n is bit n - 1. */
#define SIGNALS_SIZE sizeof(uint64_t)

/* SIGRTMIN and SIGRTMAX without a call. libc keeps those between 32 and the first to itself. */
enum { SIGNAL_REAL_TIME = 34, SIGNAL_LAST = 64 };

/* By which libc tells all kernel threads of setuid(2) and the like, and has one cancelled. */
#define SIGNALS_OF_LIBC (UINT64_C(3) << (32 - 1))

/* Not SIGTRAP: blocked, it would end the process if code that is executed step by step came here. Nor libc's own:
 * setuid(2) waits until every kernel thread has handled one. */
#define SIGNALS_ALL (~(UINT64_C(1) << (SIGTRAP - 1) | SIGNALS_OF_LIBC))

/* What the kernel knows of a set of libc's, or of a context. */
SYSTEM_INLINE uint64_t signal_word(const sigset_t *set) {
    uint64_t word;
    __builtin_memcpy(&word, set, sizeof word);
    return word;
}
SYSTEM_INLINE void signal_set_word(sigset_t *set, uint64_t word) { __builtin_memcpy(set, &word, sizeof word); }

/* Sets the mask of signals; returns the one before. Cannot fail, nor can the next two. */
SYSTEM_INLINE uint64_t signal_mask(uint64_t mask) {
    uint64_t old = 0;
    system_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, (long)&old, SIGNALS_SIZE); /* see above */
    return old;
}
SYSTEM_INLINE uint64_t signal_mask_now(void) {
    uint64_t mask = 0;
    system_call(SYS_rt_sigprocmask, SIG_BLOCK, 0, (long)&mask, SIGNALS_SIZE); /* see above */
    return mask;
}
SYSTEM_INLINE void signal_unblock(uint64_t signals) {
    system_call(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&signals, 0, SIGNALS_SIZE); /* see above */
}

/* As the kernel wants a struct sigaction. */
struct kernel_action {
    union {
        void (*handler)(int);
        void (*inform)(int, siginfo_t *, void *);
    };
    unsigned long flags;
    void (*restorer)(void); /* that a handler returns to; set by system_rt_sigaction where the kernel has none */
    uint64_t mask;
};
SYSTEM_INLINE int system_rt_sigaction(int signal, const struct kernel_action *action, struct kernel_action *before) {
#if defined(__x86_64__)
    extern void system_sigaction_return(void) __attribute__((visibility("hidden")));
    struct kernel_action complete;
    if (action) {
        complete = *action;
        complete.flags |= 0x04000000; /* SA_RESTORER */
        complete.restorer = system_sigaction_return;
        action = &complete;
    }
#endif
    return (int)system_call(SYS_rt_sigaction, signal, (long)action, (long)before, SIGNALS_SIZE);
}
/* The same with libc's structures. Sanitizers know of it, and may put off the handler. */
int system_sigaction(int signal, const struct sigaction *action, struct sigaction *before);
/* The signal has its default effect from now on, or is ignored (SIG_DFL, SIG_IGN). */
int system_signal(int signal, void (*disposition)(int));

SYSTEM_INLINE int system_sigaltstack(const stack_t *stack, stack_t *before) {
    return (int)system_call(SYS_sigaltstack, (long)stack, (long)before, 0, 0);
}

/* ---- Processes and threads --------------------------------------------------------------------------------------- */

SYSTEM_INLINE pid_t system_getpid(void) { return (pid_t)system_call(SYS_getpid, 0, 0, 0, 0); }
SYSTEM_INLINE pid_t system_gettid(void) { return (pid_t)system_call(SYS_gettid, 0, 0, 0, 0); }
SYSTEM_INLINE int system_tgkill(pid_t process, pid_t thread, int signal) {
    return (int)system_call(SYS_tgkill, process, thread, signal, 0);
}
/* To the calling kernel thread. */
SYSTEM_INLINE int system_raise(int signal) { return system_tgkill(system_getpid(), system_gettid(), signal); }
SYSTEM_INLINE void system_sched_yield(void) { system_call(SYS_sched_yield, 0, 0, 0, 0); /* cannot fail */ }
_Noreturn SYSTEM_INLINE void system_exit_group(int status) {
    for (;;)
        system_call(SYS_exit_group, status, 0, 0, 0); /* does not return */
}

/* A set of CPUs. */
enum { CPUS_WORDS = 16 };
struct cpus {
    uint64_t words[CPUS_WORDS];
};
/* Returns how many bytes the kernel has set; the others are 0. */
SYSTEM_INLINE long system_sched_getaffinity(pid_t thread, struct cpus *cpus) {
    *cpus = (struct cpus){0};
    return system_call(SYS_sched_getaffinity, thread, sizeof *cpus, (long)cpus, 0);
}
SYSTEM_INLINE int system_sched_setaffinity(pid_t thread, const struct cpus *cpus) {
    return (int)system_call(SYS_sched_setaffinity, thread, sizeof *cpus, (long)cpus, 0);
}
int cpus_count(const struct cpus *cpus);
bool cpus_equal(const struct cpus *one, const struct cpus *other);

/* Sleeps while *word is `value`, and at most `nanoseconds` (negative: for good). May return early. */
SYSTEM_INLINE void futex_wait(_Atomic uint32_t *word, uint32_t value, int64_t nanoseconds) {
    enum { WAIT_PRIVATE = 128 };
    struct timespec limit = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    /* However it ends, the caller looks at the word. */
    system_call(SYS_futex, (long)word, WAIT_PRIVATE, value, nanoseconds < 0 ? 0 : (long)&limit);
}
SYSTEM_INLINE void futex_wake(_Atomic uint32_t *word, int most) {
    enum { WAKE_PRIVATE = 129 };
    system_call(SYS_futex, (long)word, WAKE_PRIVATE, most, 0); /* it does not matter how many it were */
}

/* ---- Time -------------------------------------------------------------------------------------------------------- */

/* May end early. */
SYSTEM_INLINE void system_nanosleep(int64_t nanoseconds) {
    struct timespec time = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    system_call(SYS_nanosleep, (long)&time, 0, 0, 0); /* however it ends, the caller looks again */
}

/* A timer that sends the signal, with the value, to a kernel thread of this process. */
SYSTEM_INLINE int system_timer_create(clockid_t clock, pid_t thread, int signal, union sigval value, int *timer) {
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = signal, .sigev_value = value};
    event._sigev_un._tid = thread;
    return (int)system_call(SYS_timer_create, clock, (long)&event, (long)timer, 0);
}
SYSTEM_INLINE int system_timer_settime(int timer, int flags, const struct itimerspec *when) {
    return (int)system_call(SYS_timer_settime, timer, flags, (long)when, 0);
}
SYSTEM_INLINE int system_timer_delete(int timer) { return (int)system_call(SYS_timer_delete, timer, 0, 0, 0); }

/* ---- Files ------------------------------------------------------------------------------------------------------- */

int system_openat(int folder, const char *path, int flags, mode_t mode);
int system_close(int descriptor);
ssize_t system_read(int descriptor, void *buffer, size_t size);
ssize_t system_write(int descriptor, const void *buffer, size_t size);
ssize_t system_readv(int descriptor, const struct iovec *parts, long count);
ssize_t system_writev(int descriptor, const struct iovec *parts, long count);
/* The offset is the kernel's in two halves, of which 64-bit kernels ignore the second. */
ssize_t system_preadv(int descriptor, const struct iovec *parts, long count, off_t offset, long none);
ssize_t system_pwritev(int descriptor, const struct iovec *parts, long count, off_t offset, long none);
/* `flags`: RWF_…; offset -1: the file's position. */
ssize_t system_preadv2(int descriptor, const struct iovec *parts, long count, off_t offset, long none, int flags);
ssize_t system_pwritev2(int descriptor, const struct iovec *parts, long count, off_t offset, long none, int flags);
int system_fstat(int descriptor, struct stat *status);
int system_fsync(int descriptor);
int system_fcntl(int descriptor, int command, long argument);
ssize_t system_sendfile(int socket, int file, off_t *offset, size_t size);

ssize_t system_recvfrom(int socket, void *buffer, size_t size, int flags, struct sockaddr *from, socklen_t *length);
ssize_t system_sendto(int socket, const void *buffer, size_t size, int flags, const struct sockaddr *to,
                      socklen_t length);
ssize_t system_sendmsg(int socket, const struct msghdr *message, int flags);
int system_accept4(int socket, struct sockaddr *address, socklen_t *length, int flags);
int system_connect(int socket, const struct sockaddr *address, socklen_t length);
int system_getsockopt(int socket, int level, int option, void *value, socklen_t *length);

int system_eventfd2(unsigned count, int flags);
int system_ppoll(struct pollfd *descriptors, nfds_t count, const struct timespec *time, const uint64_t *mask,
                 size_t mask_size);
int system_epoll_create1(int flags);
int system_epoll_ctl(int epoll, int operation, int descriptor, struct epoll_event *event);
int system_epoll_pwait(int epoll, struct epoll_event *events, int most, int milliseconds, const uint64_t *mask,
                       size_t mask_size);
int system_epoll_pwait2(int epoll, struct epoll_event *events, int most, const struct timespec *time,
                        const uint64_t *mask, size_t mask_size);

#endif
