/*
 * The application's actions, and what the kernel is told of them.
 */
#include <errno.h>

#include "contexts/libc.h"
#include "contexts/system.h"
#include "preemption/preemption.h"
#include "process/activations.h"
#include "process/kernel_threads.h"
#include "process/preempt.h"
#include "process/report.h"
#include "process/runtime.h"
#include "process/signals.h"
#include "sa.h"

static void install(int number);
static void begin(void);
static void open_kernel_mask(int number);
static void tell_activations(void);

static const uint64_t faults = UINT64_C(1) << (SIGSEGV - 1) | UINT64_C(1) << (SIGBUS - 1) |
                               UINT64_C(1) << (SIGFPE - 1) | UINT64_C(1) << (SIGILL - 1) |
                               UINT64_C(1) << (SIGTRAP - 1) | UINT64_C(1) << (SIGSYS - 1);

static bool is_handler(const struct sigaction *action) {
    return (action->sa_flags & SA_SIGINFO) || (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN);
}

int catapults_sigaction(int number, const struct sigaction *action, struct sigaction *before) {
    if (number <= 0 || number >= _NSIG || (signals_reserved() & signal_bit(number))) {
        if (number == SIGURG || number == SIGVTALRM || number == SIGNAL_LAST - 2)
            runtime_report("catapults_sigaction: %s is the runtime's own signal; take another one",
                           number == SIGURG      ? "SIGURG"
                           : number == SIGVTALRM ? "SIGVTALRM"
                                                 : "SIGRTMAX - 2");
        *libc_error_number() = EINVAL;
        return -1;
    }
    dispatcher_enter();
    if (!(signals.taken & signal_bit(number))) {
        if (!action) {
            dispatcher_leave();
            return system_sigaction(number, NULL, before) == 0 ? 0 : -1; /* cannot fail: there is such a signal */
        }
        signals_own(number);
    }
    if (before)
        *before = signals_action_of(number);
    if (action)
        signals_set_action(number, action);
    dispatcher_leave();
    return 0;
}

void signals_own(int number) {
    if (!signals.taken)
        begin();
    struct sigaction kernel;
    if ((signals.taken & signal_bit(number)) || system_sigaction(number, NULL, &kernel) != 0)
        return;
    bool blocked = signal_mask_now() & signal_bit(number);
    signals.taken |= signal_bit(number);
    signals_set_action(number, &kernel);
    if (blocked)
        open_kernel_mask(number);
}

/* A fault on another processor may read it meanwhile. */
static void write_action(int number, const struct sigaction *action) {
    uint64_t words[sizeof *action / 8], *to = (uint64_t *)&signals.actions[number];
    __builtin_memcpy(words, action, sizeof words);
    uint32_t writing = signals.writing;
    __atomic_store_n(&signals.writing, writing + 1, __ATOMIC_RELAXED);
    for (unsigned i = 0; i < sizeof words / 8; i++)
        __atomic_store_n(&to[i], words[i], __ATOMIC_RELEASE); /* after that */
    __atomic_store_n(&signals.writing, writing + 2, __ATOMIC_RELEASE);
    __atomic_fetch_and(&signals.reset, ~signal_bit(number), __ATOMIC_RELAXED);
}

void signals_set_action(int number, const struct sigaction *action) {
    uint64_t bit = signal_bit(number);
    write_action(number, action);
    signals.handled = is_handler(action) ? signals.handled | bit : signals.handled & ~bit;
    dispatcher_expect_signals(signals.handled || signals.waiters);
    install(number);
}

static void install(int number) {
    const struct sigaction *action = &signals.actions[number];
    if (!is_handler(action) && action->sa_handler == SIG_IGN) {
        system_signal(number, SIG_IGN); /* so that programs that are executed find it so */
        return;
    }
    unsigned long flags = (unsigned long)action->sa_flags & (SA_NOCLDSTOP | SA_NOCLDWAIT);
    flags |= is_handler(action) ? (unsigned long)action->sa_flags & SA_RESTART : SA_RESTART;
    if (faults & signal_bit(number))
        flags |= (unsigned long)action->sa_flags & SA_ONSTACK;
    if (!signals.by_upcall || (faults & signal_bit(number)))
        preemption_catch(number, flags); /* cannot fail: signals that cannot be caught do not come here */
    else
        tell_activations();
}

static void begin(void) {
    signals_catch_start();
    signals.by_upcall = activations_running();
    if (!signals.by_upcall)
        preempt_for_signals();
}

/* From now on threads block it, instead of the kernel thread. */
static void open_kernel_mask(int number) {
    for (struct dispatcher_thread *t = dispatcher_first_thread(); t; t = dispatcher_next_thread(t))
        __atomic_fetch_or(&member_of(t)->signals.mask, signal_bit(number), __ATOMIC_RELAXED);
    if (signals.by_upcall && !(faults & signal_bit(number)))
        return; /* sa_signals has */
    if (!dispatcher_guard.several) {
        preemption_unblock(signal_bit(number));
        return;
    }
    preemption_unblock_all(signal_bit(number));
    for (uint32_t i = 0; i < dispatcher_processors(); i++)
        processors_interrupt(dispatcher_processor_at(i));
}

void signals_leave_upcalls(void) {
    if (!signals.by_upcall)
        return;
    signals.by_upcall = false;
    sigset_t none = {0};
    sa_signals(&none); /* cannot fail: none is asked for */
    for (uint64_t left = signals.taken; left; left &= left - 1)
        install(__builtin_ctzll(left) + 1);
    preemption_unblock(signals.taken);
}

static void tell_activations(void) {
    uint64_t wanted = 0;
    for (int number = 1; number < _NSIG; number++)
        if ((signals.taken & signal_bit(number)) &&
            (is_handler(&signals.actions[number]) || signals.actions[number].sa_handler != SIG_IGN))
            wanted |= signal_bit(number);
    sigset_t set;
    signals_to(&set, wanted & ~faults);
    sa_signals(&set); /* cannot fail: there are such signals, and they are not reserved */
}

bool signals_ignores(int number) {
    const struct sigaction *action = &signals.actions[number];
    if (is_handler(action))
        return false;
    return action->sa_handler == SIG_IGN || number == SIGCHLD || number == SIGWINCH || number == SIGCONT;
}

/* Ends the program, or stops it for a while. */
void signals_default(int number) {
    if (signals_ignores(number))
        return;
    system_signal(number, SIG_DFL); /* cannot fail, nor the next: there is such a signal */
    system_raise(number);           /* see above */
    dispatcher_enter();
    install(number);
    dispatcher_leave();
}
