/*
 * The handler. It runs on the stack of the thread that it interrupts, and a switch may leave it there. Whatever it
 * keeps about the kernel thread, in a register or on that stack, is stale afterwards.
 */
#include <errno.h>
#include <stdatomic.h>
#include <ucontext.h>

#include "contexts/here.h"
#include "contexts/libc.h"
#include "contexts/system.h"
#include "preemption/kernel_timer.h"

/* Nanoseconds until the next look when the code must not be left now. A system call may last: looks become rarer. */
enum { SOON = 100000, LATEST = 4000000 };

static preemption_interrupted *interrupted;
static preemption_from_outside *_Atomic outside;
static preemption_may_be_left nothing, *may_be_left = nothing;
static _Atomic uint64_t opened;   /* signals that all kernel threads are to unblock */
static _Atomic pid_t first, ours; /* the first kernel thread attached, and its process */
static struct sigaction before;   /* the disposition before ours */
static preemption_sent *_Atomic other;

static void handle(int signal, siginfo_t *info, void *context);
static bool is_ours(const siginfo_t *info);
static void open_signals(ucontext_t *context);
static bool waits(const ucontext_t *context);
static void look_soon(void);
static bool in_system_call(const ucontext_t *context);
static void keep_rounding(const ucontext_t *context);

static bool nothing(uintptr_t instruction) {
    (void)instruction;
    return false;
}

int preemption_start(preemption_interrupted *function, preemption_may_be_left *answer) {
    interrupted = function;
    may_be_left = answer;
    struct sigaction now;
    int error = -system_sigaction(PREEMPTION_SIGNAL, NULL, &now);
    if (error == 0 && now.sa_sigaction != handle)
        before = now;
    return error ? error : preemption_install(PREEMPTION_SIGNAL, handle, SA_RESTART, 0);
}

void preemption_other(preemption_sent *sent) { atomic_store(&other, sent); }
void preemption_listen(preemption_from_outside *listener) { atomic_store(&outside, listener); }

void preemption_interrupt_first(void) {
    pid_t process = system_getpid(), thread = atomic_load(&ours) == process ? atomic_load(&first) : process;
    system_tgkill(process, thread, PREEMPTION_SIGNAL); /* who waits for it asks again */
}

int preemption_attach(void) {
    pid_t process = system_getpid();
    if (atomic_load(&ours) != process) {
        atomic_store(&first, system_gettid());
        atomic_store(&ours, process);
    }
    here()->signals.attached = true;
    stack_t stack;
    int error = -system_sigaltstack(NULL, &stack);
    if (error)
        return error;
    here()->signals.stack.base = stack.ss_sp;
    here()->signals.stack.size = stack.ss_size;
    here()->signals.stack.flags = stack.ss_flags;
    here()->signals.mask = signal_mask_now();
    here()->signals.opened = atomic_load(&opened);
    preemption_unblock(UINT64_C(1) << (PREEMPTION_SIGNAL - 1) | here()->signals.opened);
    here()->signals.patience = SOON;
    return preemption_timer_make();
}

void preemption_postpone(uint64_t signals, ucontext_t *context) {
    uint64_t mask = signal_word(&context->uc_sigmask);
    here()->signals.postponed |= signals & ~mask;
    signal_set_word(&context->uc_sigmask, mask | signals);
}

void preemption_unblock(uint64_t signals) {
    here()->signals.mask &= ~signals;
    here()->signals.postponed &= ~signals;
    signal_unblock(signals); /* they may come at once, and be postponed again */
}

void preemption_unblock_all(uint64_t signals) {
    atomic_fetch_or(&opened, signals);
    preemption_unblock(signals);
}

bool preemption_pass_on(void) {
    pid_t other = atomic_load(&first);
    if (here()->signals.attached || !other)
        return false;
    return system_tgkill(system_getpid(), other, PREEMPTION_SIGNAL) == 0;
}

/* Unblocks what all kernel threads are to unblock, and what was postponed, if there is room again. */
__attribute__((noipa)) static void open_signals(ucontext_t *context) {
    uint64_t all = atomic_load(&opened) & ~here()->signals.opened;
    uint64_t news = all | (preemption_arrivals_shut() ? 0 : here()->signals.postponed);
    if (!news)
        return;
    here()->signals.opened |= all;
    preemption_unblock(news);
    uint64_t open = news & ~here()->signals.postponed; /* some may have come, and been postponed again */
    signal_set_word(&context->uc_sigmask, signal_word(&context->uc_sigmask) & ~open);
}

__attribute__((noipa)) uint64_t preemption_postponed(void) { return here()->signals.postponed; }

static void handle(int signal, siginfo_t *info, void *context) {
    preemption_from_outside *listener = atomic_load(&outside);
    if (listener && listener(info))
        return;
    if (!is_ours(info)) {
        if (before.sa_flags & SA_SIGINFO)
            before.sa_sigaction(signal, info, context);
        else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
            before.sa_handler(signal);
        return;
    }
    int error = *libc_error_number();
    open_signals(context);
    uint64_t postponed = preemption_postponed();
    enum preemption_where where = preemption_where(context);
    if (where != PREEMPTION_ELSEWHERE) {
        /* Another thread may run here before this returns. Elsewhere the signal stays blocked: many handlers would
         * nest, perhaps on a small stack. */
        preemption_unblock(UINT64_C(1) << (PREEMPTION_SIGNAL - 1));
        keep_rounding(context);
    }
    bool again = interrupted(where);
    if (where != PREEMPTION_ELSEWHERE)
        preemption_settle(context);
    else
        preemption_settle_elsewhere(context, postponed);
    if (where == PREEMPTION_APPLICATION)
        look_soon();
    if (again || preemption_postponed())
        preemption_look_again(context);
    *libc_error_number() = error;
}

/* When too many signals pend (RLIMIT_SIGPENDING), the kernel cannot say who sent one. It then looks like a kill by
 * process 0, and may be ours. */
static bool is_ours(const siginfo_t *info) {
    preemption_sent *sent = atomic_load(&other);
    return (sent && sent(info)) || preemption_timer_sent(info) ||
           (info->si_code == SI_TKILL && info->si_pid == system_getpid()) ||
           (info->si_code == SI_USER && info->si_pid == 0);
}

#if defined(__x86_64__)
enum { CALL_SIZE = 2 }; /* of a system call's instruction */
static uintptr_t instruction(const ucontext_t *context) { return (uintptr_t)context->uc_mcontext.gregs[REG_RIP]; }
static bool is_system_call(const unsigned char *code) { return code[0] == 0x0f && code[1] == 0x05; }
#elif defined(__aarch64__)
enum { CALL_SIZE = 4 };
static uintptr_t instruction(const ucontext_t *context) { return context->uc_mcontext.pc; }
static bool is_system_call(const unsigned char *code) {
    return code[0] == 0x01 && code[1] == 0x00 && code[2] == 0x00 && code[3] == 0xd4;
}
#endif

bool preemption_in_handler(const ucontext_t *context) {
    uint64_t mask = signal_word(&context->uc_sigmask) & ~here()->signals.postponed;
    return mask != here()->signals.mask || (context->uc_stack.ss_flags & SS_ONSTACK);
}

enum preemption_where preemption_where(const ucontext_t *context) {
    if (preemption_in_handler(context))
        return PREEMPTION_ELSEWHERE;
    if (may_be_left(instruction(context)))
        return PREEMPTION_APPLICATION;
    return waits(context) ? PREEMPTION_CALL : PREEMPTION_ELSEWHERE;
}

/* The runtime makes none of these calls in the middle of something that a switch would harm. */
static bool waits(const ucontext_t *context) {
    static const long waiting[] = {SYS_read,    SYS_readv, SYS_accept, SYS_accept4, SYS_recvfrom, SYS_recvmsg,
                                   SYS_connect, SYS_flock, SYS_wait4,  SYS_waitid,  SYS_futex};
    if (!in_system_call(context))
        return false;
#if defined(__x86_64__)
    long call = (long)context->uc_mcontext.gregs[REG_RAX], result = call;
#elif defined(__aarch64__)
    long call = (long)context->uc_mcontext.regs[8], result = (long)context->uc_mcontext.regs[0];
#endif
    if (is_system_call((const unsigned char *)instruction(context) - CALL_SIZE))
        return result == -EINTR;
    for (unsigned i = 0; i < sizeof waiting / sizeof *waiting; i++)
        if (call == waiting[i])
            return true;
    return false;
}

__attribute__((noipa)) static void look_soon(void) { here()->signals.patience = SOON; }

__attribute__((noipa)) void preemption_look_again(const ucontext_t *context) {
    here()->signals.patience = !in_system_call(context)            ? SOON
                               : here()->signals.patience < LATEST ? here()->signals.patience * 2
                                                                   : LATEST;
    preemption_timer_retry(here()->signals.patience);
}

/* The instruction is before the call if the kernel is to repeat it, otherwise behind it. */
static bool in_system_call(const ucontext_t *context) {
    const unsigned char *code = (const unsigned char *)instruction(context);
    return is_system_call(code) || is_system_call(code - CALL_SIZE);
}

/* A handler begins with the rounding modes and exception masks of a new process. All threads share those that the
 * application has chosen (contexts/context.h). */
static void keep_rounding(const ucontext_t *context) {
#if defined(__x86_64__)
    const struct _libc_fpstate *state = context->uc_mcontext.fpregs;
    if (state)
        __asm__ volatile("ldmxcsr %0\n\tfldcw %1" : : "m"(state->mxcsr), "m"(state->cwd));
#else
    (void)context; /* not on this machine */
#endif
}

/* The kernel restores what belongs to the thread. The signal stack and the mask belong to the kernel thread, which may
 * be another one now. */
__attribute__((noipa)) void preemption_settle(ucontext_t *context) {
    signal_mask(~UINT64_C(0));
    signal_set_word(&context->uc_sigmask, here()->signals.mask | here()->signals.postponed);
    const struct here *own = here();
    context->uc_stack = (stack_t){
        .ss_sp = own->signals.stack.base, .ss_flags = own->signals.stack.flags, .ss_size = own->signals.stack.size};
}

/* The interrupted code is in the middle of something: the rest of the mask is its own, and stays. */
__attribute__((noipa)) void preemption_settle_elsewhere(ucontext_t *context, uint64_t postponed) {
    signal_mask(~UINT64_C(0));
    uint64_t mask = signal_word(&context->uc_sigmask) & ~postponed;
    signal_set_word(&context->uc_sigmask, mask | here()->signals.postponed);
}

/* Past system_sigaction: the tools delay signals whose handlers they know, to a place where we could not switch. */
int preemption_install(int signal, void (*handler)(int, siginfo_t *, void *), unsigned long flags, uint64_t mask) {
    struct kernel_action action = {.inform = handler, .flags = SA_SIGINFO | flags, .mask = mask};
    return -system_rt_sigaction(signal, &action, NULL);
}
