/*
 * Signals that are caught for others. The handler keeps what has arrived, and tells of it at once if the interrupted
 * code allows that. Otherwise the kernel thread's timer brings the handler back until somebody has asked for the
 * signal.
 *
 * The handler blocks all signals: however many come at once, the interrupted thread's stack holds one frame of the
 * kernel's.
 */
#include <stdatomic.h>

#include "contexts/libc.h"
#include "contexts/surplus.h"
#include "contexts/system.h"
#include "preemption/preemption.h"

/* Kernel threads take slots in turn; one at a time reads them. */
enum { SLOTS = 128 };
static struct {
    _Atomic bool full;
    siginfo_t info;
} slots[SLOTS];
static _Atomic unsigned oldest, newest;
static struct surplus *_Atomic surplus; /* signals that found no slot */
static _Atomic bool shut;               /* no slot was free: signals are blocked until one is */
static uint64_t caught_signals;
static const struct preemption_catcher *catcher;

static void handle(int signal, siginfo_t *info, void *context);
static void put_aside(siginfo_t *info, ucontext_t *context);
static void open_mask(const ucontext_t *context);

void preemption_catch_start(const struct preemption_catcher *functions) { catcher = functions; }

int preemption_catch(int signal, unsigned long flags) {
    caught_signals |= UINT64_C(1) << (signal - 1);
    return preemption_install(signal, handle, flags, ~UINT64_C(0));
}

bool preemption_arrival(siginfo_t *info) {
    unsigned at = atomic_load(&oldest);
    if (at != atomic_load(&newest) && atomic_load(&slots[at % SLOTS].full)) { /* else it is still being written */
        *info = slots[at % SLOTS].info;
        atomic_store(&slots[at % SLOTS].full, false);
        atomic_store(&oldest, at + 1);
        return true;
    }
    if (surplus_take(&surplus, info))
        return true;
    if (atomic_exchange(&shut, false))
        preemption_unblock(caught_signals);
    return false;
}

bool preemption_arrivals_shut(void) { return atomic_load(&shut); }

void preemption_arrivals_restart(void) {
    for (unsigned i = 0; i < SLOTS; i++)
        atomic_store(&slots[i].full, false);
    atomic_store(&oldest, 0);
    atomic_store(&newest, 0);
    for (siginfo_t info; surplus_take(&surplus, &info);)
        ;
    if (atomic_exchange(&shut, false))
        preemption_unblock(caught_signals);
}

bool preemption_is_fault(const siginfo_t *info) {
    int signal = info->si_signo;
    return info->si_code > 0 && (signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL ||
                                 signal == SIGTRAP || signal == SIGSYS);
}

static void handle(int signal, siginfo_t *info, void *context) {
    (void)signal;
    int error = *libc_error_number();
    enum preemption_where where = preemption_where(context);
    bool application = where == PREEMPTION_APPLICATION;
    bool is_fault = preemption_is_fault(info);
    if (!is_fault && !preemption_keep(info))
        put_aside(info, context);
    uint64_t postponed = preemption_postponed();
    if (is_fault) {
        open_mask(context);
        catcher->fault(info, context, !application);
        preemption_settle_elsewhere(context, postponed);
    } else {
        catcher->arrived();
        if (preemption_pass_on()) { /* this kernel thread runs no threads */
            *libc_error_number() = error;
            return;
        }
        bool may =
            where != PREEMPTION_ELSEWHERE || (!preemption_in_handler(context) && preemption_has_sent(info, context));
        if (may)
            open_mask(context);
        bool again = may ? catcher->interrupted(!application) : catcher->postponed();
        if (where != PREEMPTION_ELSEWHERE)
            preemption_settle(context);
        else
            preemption_settle_elsewhere(context, postponed);
        if (again)
            preemption_look_again(context);
    }
    *libc_error_number() = error;
}

bool preemption_keep(const siginfo_t *info) {
    unsigned at = atomic_load(&newest);
    do {
        if ((int)(at - atomic_load(&oldest)) >= SLOTS)
            return false;
    } while (!atomic_compare_exchange_weak(&newest, &at, at + 1));
    slots[at % SLOTS].info = *info;
    atomic_store(&slots[at % SLOTS].full, true);
    return true;
}

/* The kernel keeps the signals that come after this one. */
static void put_aside(siginfo_t *info, ucontext_t *context) {
    preemption_postpone(caught_signals, context);
    atomic_store(&shut, true);
    surplus_keep(&surplus, info);
}

/* By a call that has not returned yet: POSIX wants the handler to run before it returns. The runtime makes such calls,
 * too, with another signal; a thread must not be left there. */
bool preemption_has_sent(const siginfo_t *info, const ucontext_t *context) {
    if ((info->si_code != SI_USER && info->si_code != SI_TKILL && info->si_code != SI_QUEUE) ||
        info->si_pid != system_getpid())
        return false;
#if defined(__x86_64__)
    const greg_t *registers = context->uc_mcontext.gregs;
    const unsigned char *code = (const unsigned char *)registers[REG_RIP];
    /* The second argument of kill and rt_sigqueueinfo, the third of the others. */
    bool second = info->si_code != SI_TKILL && registers[REG_RSI] == info->si_signo;
    bool third = info->si_code != SI_USER && registers[REG_RDX] == info->si_signo;
    return code[-2] == 0x0f && code[-1] == 0x05 && registers[REG_RAX] == 0 && registers[REG_RDI] == system_getpid() &&
           (second || third);
#elif defined(__aarch64__)
    const uint32_t *code = (const uint32_t *)context->uc_mcontext.pc, svc = 0xd4000001;
    long call = (long)context->uc_mcontext.regs[8];
    bool second = call == SYS_kill || call == SYS_rt_sigqueueinfo; /* the argument that is the signal */
    return code[-1] == svc && context->uc_mcontext.regs[0] == 0 &&
           context->uc_mcontext.regs[second ? 1 : 2] == (uint64_t)info->si_signo &&
           (call == SYS_kill || call == SYS_tgkill || call == SYS_rt_sigqueueinfo || call == SYS_rt_tgsigqueueinfo);
#endif
}

/* Sets the mask of the interrupted code. */
static void open_mask(const ucontext_t *context) { signal_mask(signal_word(&context->uc_sigmask)); }
