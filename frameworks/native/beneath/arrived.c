#include "beneath/arrived.h"

#include <errno.h>
#include <string.h>
#include <ucontext.h>

#include "beneath/descriptors.h"
#include "beneath/instant.h"
#include "preemption/preemption.h"
#include "process/kernel_threads.h"

/* What the application has asked for. The kernel has `came` instead of a handler. */
static struct kernel_action actions[SIGNALS];

/* What came in the runtime, on a kernel thread that has left it to the others; guarded by the lock. Of a real-time
 * signal they are as many as came: a kernel thread that sleeps would not give up a further one. */
static struct pending common;

/* Also without the lock: who leaves the runtime looks before it takes that. */
static uint64_t common_set(void) { return __atomic_load_n(&common.set, __ATOMIC_RELAXED); }

/* The last is the runtime's own. */
static const uint64_t never_blocked =
    UINT64_C(1) << (SIGKILL - 1) | UINT64_C(1) << (SIGSTOP - 1) | UINT64_C(1) << (PREEMPTION_SIGNAL - 1);

static siginfo_t *kept_here(int signal) {
    _Static_assert(sizeof here()->beneath.kept == SIGNALS * sizeof(siginfo_t), "here.h knows no signals");
    return (siginfo_t *)here()->beneath.kept[signal - 1];
}

static void forget(volatile uint64_t *set, uint64_t signals) { __atomic_fetch_and(set, ~signals, __ATOMIC_SEQ_CST); }

static bool has_handler(int signal) {
    return actions[signal - 1].handler != SIG_DFL && actions[signal - 1].handler != SIG_IGN;
}

/* ---- Handlers ---------------------------------------------------------------------------------------------------- */

static void kernel_mask(uint64_t mask) {
    here()->signals.mask = mask;
    signal_mask(mask);
}

void arrived_close(void) { kernel_mask(~never_blocked); }

/* Whether the code has caused it: that cannot be put off. */
static bool is_fault(int signal, const siginfo_t *info) {
    return info->si_code > 0 && info->si_code != SI_KERNEL &&
           (signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL || signal == SIGTRAP);
}

static void came(int signal, siginfo_t *info, void *context) {
    ucontext_t *interrupted = context;
    if (here_inside() && !is_fault(signal, info)) {
        if (here()->beneath.arrived & signal_bit(signal)) {
            /* One is kept here: another kernel thread may have this, or this one later. */
            system_call(SYS_rt_sigqueueinfo, system_getpid(), signal, (long)info, 0); /* there was room for it */
        } else {
            *kept_here(signal) = *info;
            __atomic_fetch_or(&here()->beneath.arrived, signal_bit(signal),
                              __ATOMIC_SEQ_CST); /* others may interrupt this */
        }
        signal_set_word(&interrupted->uc_sigmask, signal_word(&interrupted->uc_sigmask) | signal_bit(signal));
        return;
    }
    struct kernel_action action = actions[signal - 1];
    if (action.handler == SIG_IGN || action.handler == SIG_DFL) { /* it was removed on another processor */
        if (action.handler == SIG_DFL)
            system_tgkill(system_getpid(), system_gettid(), signal); /* to itself: the kernel knows of that */
        return;
    }
    /* By the first, NPTL cancels a thread: from glibc 2.41 on it expects that this ends the call. */
    if (!here_inside() && (signal == FIRST_OF_LIBC || !(action.flags & SA_RESTART)))
        thread_self()->signals.broken = true;
    if (action.flags & SA_RESETHAND) {
        const struct kernel_action none = {.handler = SIG_DFL};
        actions[signal - 1].handler = SIG_DFL;
        system_rt_sigaction(signal, &none, NULL); /* cannot fail: it had a handler */
    }
    bool inside = here_inside();
    if (!inside) {
        /* Other threads may run in the middle of the handler, but not here. */
        signal_mask(~UINT64_C(0));
        uint64_t mask = here()->signals.mask | action.mask | (action.flags & SA_NODEFER ? 0 : signal_bit(signal));
        here()->signals.mask = thread_self()->signals.mask = mask & ~never_blocked;
        signal_mask(mask & ~never_blocked);
    }
    if (action.flags & SA_SIGINFO)
        action.inform(signal, info, context);
    else
        action.handler(signal);
    if (inside)
        return;
    /* The kernel restores what the frame says: what the handler has made of it. */
    signal_mask(~UINT64_C(0));
    here()->signals.mask = thread_self()->signals.mask = signal_word(&interrupted->uc_sigmask) & ~never_blocked;
}

/* The kernel discards only what pends in the kernel. */
static void discard(int signal) {
    dispatcher_enter();
    for (struct dispatcher_thread *t = dispatcher_first_thread(); t; t = dispatcher_next_thread(t))
        pending_forget(&thread_of(t)->signals.pending, signal_bit(signal));
    pending_forget(&common, signal_bit(signal));
    dispatcher_leave();
    forget(&here()->beneath.arrived, signal_bit(signal));
}

static bool is_ignored(int signal, const struct kernel_action *action) {
    return action->handler == SIG_IGN || (action->handler == SIG_DFL && (signal == SIGCHLD || signal == SIGCONT ||
                                                                         signal == SIGURG || signal == SIGWINCH));
}

long arrived_sigaction(const struct call *call) {
    int signal = (int)call->first;
    const struct kernel_action *asked = (const struct kernel_action *)call->second;
    struct kernel_action *before = (struct kernel_action *)call->third;
    if (signal < 1 || signal > SIGNALS || call->fourth != SIGNALS_SIZE)
        return -EINVAL;
    if (signal == PREEMPTION_SIGNAL && asked)
        return -EINVAL;
    struct kernel_action wanted, old = actions[signal - 1];
    if (asked) {
        wanted = *asked;
        bool handled = wanted.handler != SIG_DFL && wanted.handler != SIG_IGN;
        struct kernel_action given = wanted;
        if (handled) {
            given.inform = came;
            given.flags |= SA_SIGINFO;
            given.flags &= ~(unsigned long)SA_RESETHAND; /* see there: it may be kept first */
            given.mask &= ~never_blocked;
        }
        if (handled)
            actions[signal - 1] = wanted; /* before it can come */
        long result = system_call(SYS_rt_sigaction, signal, (long)&given, 0, SIGNALS_SIZE);
        actions[signal - 1] = result < 0 ? old : wanted;
        if (result < 0)
            return result;
        if (is_ignored(signal, &wanted))
            discard(signal);
    }
    if (before)
        *before = old;
    return 0;
}

uint64_t arrived_start(void) {
    for (int signal = 1; signal <= SIGNALS; signal++)
        system_call(SYS_rt_sigaction, signal, 0, (long)&actions[signal - 1],
                    SIGNALS_SIZE); /* cannot fail: there is one */
    uint64_t mask = signal_mask_now() & ~never_blocked;
    for (int signal = 1; signal <= SIGNALS; signal++)
        if (has_handler(signal)) {
            struct call again = {.first = signal, .second = (long)&actions[signal - 1], .fourth = SIGNALS_SIZE};
            arrived_sigaction(&again);
        }
    arrived_close();
    return mask;
}

/* ---- What is for whom -------------------------------------------------------------------------------------------- */

bool arrived_any(uint64_t signals) { return (here()->beneath.arrived | common_set()) & signals; }

bool arrived_for(const struct beneath_thread *thread) {
    uint64_t open = ~thread->signals.mask;
    return (thread->signals.pending.set & (open | thread->signals.awaited)) |
           ((here()->beneath.arrived | common_set()) & open);
}

/* Leaves what has come here to all. What there is no memory for stays here. */
static void share(void) {
    uint64_t moved = dispatcher_guard.several ? here()->beneath.arrived : 0;
    for (uint64_t left = moved; left; left &= left - 1) {
        int signal = __builtin_ctzll(left) + 1;
        if (pending_add(&common, kept_here(signal)) < 0)
            moved &= ~signal_bit(signal);
    }
    if (!moved)
        return;
    forget(&here()->beneath.arrived, moved);
    signal_mask(here()->signals.mask); /* they may come again */
}

static void interrupt(struct beneath_thread *thread) {
    thread->signals.interrupted = true;
    dispatcher_unblock_only(&thread->member.dispatched);
}

static bool may_interrupt(const struct beneath_thread *thread) {
    return thread->signals.waits && !thread->signals.interrupted && core_is_blocked(&thread->member.dispatched);
}

/* One thread is enough: the oldest that waits and does not block it. */
void arrived_interrupt(void) {
    share();
    uint64_t left = here()->beneath.arrived | common.set;
    for (struct dispatcher_thread *t = dispatcher_first_thread(); t && left; t = dispatcher_next_thread(t)) {
        struct beneath_thread *thread = thread_of(t);
        uint64_t taken = left & ~thread->signals.mask;
        if (!taken || !may_interrupt(thread))
            continue;
        interrupt(thread);
        left &= ~taken;
    }
}

void arrived_retarget(struct beneath_thread *ending) {
    pending_forget(&ending->signals.pending, ~UINT64_C(0));
    descriptors_close();
    if (arrived_any(~UINT64_C(0)))
        arrived_interrupt();
}

void arrived_let_in(void) {
    uint64_t pending = 0, mask = here()->signals.mask;
    system_call(SYS_rt_sigpending, (long)&pending, SIGNALS_SIZE, 0, 0); /* cannot fail */
    pending &= mask & ~here()->beneath.arrived;
    if (!pending || !(pending &= ~arrived_blocked_by_all()))
        return;
    signal_mask(mask & ~pending); /* they come here, and are kept */
    signal_mask(mask | here()->beneath.arrived);
}

uint64_t arrived_blocked_by_all(void) {
    uint64_t blocked = ~UINT64_C(0);
    for (struct dispatcher_thread *t = dispatcher_first_thread(); t; t = dispatcher_next_thread(t))
        blocked &= thread_of(t)->signals.mask;
    return blocked & ~never_blocked;
}

/* Fails while the caller is in a handler on the stack that is in use: then once it has left that, see arrived_leave. */
static void use_stack(const stack_t *stack) {
    here()->signals.stack.base = stack->ss_sp;
    here()->signals.stack.size = stack->ss_size;
    here()->signals.stack.flags = stack->ss_flags;
    here()->beneath.stack_is_anothers = system_sigaltstack(stack, NULL) == -EPERM;
}

void arrived_exchange(struct beneath_thread *thread) {
    /* Nothing comes by the mask of the thread before, once what has come is shared. */
    if (thread->signals.mask != here()->signals.mask && here()->signals.mask != ~never_blocked)
        arrived_close();
    if (__builtin_expect(here()->beneath.arrived != 0, 0))
        share();
    if (__builtin_expect(common.set & thread->signals.mask, 0))
        descriptors_kick(); /* it is another's */
    if (thread->signals.mask != here()->signals.mask)
        kernel_mask(thread->signals.mask);
    if (thread->signals.stack.ss_sp != here()->signals.stack.base)
        use_stack(&thread->signals.stack);
}

void arrived_idle(void) {
    arrived_close();
    share();
    if (common.set)
        descriptors_kick(); /* it looks whose wait they end */
    if (!(here()->signals.stack.flags & SS_DISABLE))
        use_stack(&(stack_t){.ss_flags = SS_DISABLE}); /* its owner may handle signals elsewhere */
}

/* Takes one of these that is for the thread. False: there is none. */
static bool take_one(struct beneath_thread *self, uint64_t open, siginfo_t *info) {
    uint64_t own = here()->beneath.arrived & open;
    /* Those of all have come earlier. */
    if (pending_take(&self->signals.pending, open, info) || pending_take(&common, open, info))
        return true;
    if (own) {
        *info = *kept_here(__builtin_ctzll(own) + 1);
        forget(&here()->beneath.arrived, own & -own);
    }
    return own;
}

/* The thread sends them to its kernel thread, one after the other, while it is not within dispatcher_enter: there it
 * may come to another. */
static __attribute__((noinline)) void leave_for_signals(void) {
    struct beneath_thread *self = thread_self();
    for (bool any = true; any;) {
        siginfo_t info;
        dispatcher_enter();
        any = take_one(self, ~self->signals.mask, &info);
        dispatcher_leave();
        signal_mask(~UINT64_C(0));
        if (any)
            system_call(SYS_rt_tgsigqueueinfo, system_getpid(), system_gettid(), info.si_signo,
                        (long)&info); /* to itself */
        else
            any = here()->beneath.arrived & ~self->signals.mask; /* another came since */
        here_set_inside(false);
        signal_mask(self->signals.mask); /* here it comes */
        here_set_inside(any);
    }
}

bool arrived_leave(void) {
    if (__builtin_expect(here()->beneath.stack_is_anothers, 0))
        use_stack(&thread_self()->signals.stack);
    if (__builtin_expect(!arrived_for(thread_self()), 1)) {
        here_set_inside(false);
        if (__builtin_expect(!(here()->beneath.arrived & ~here()->signals.mask), 1))
            return true;
        here_set_inside(true); /* it came in between, and was kept */
    }
    thread_self()->signals.broken = false;
    leave_for_signals();
    return !thread_self()->signals.broken;
}

/* ---- The kernel's calls ------------------------------------------------------------------------------------------ */

/* Those that have come and are blocked: in the kernel, or here. */
long arrived_sigpending(const struct call *call) {
    uint64_t pending = 0;
    if ((size_t)call->second > SIGNALS_SIZE)
        return -EINVAL;
    long result = system_call(SYS_rt_sigpending, (long)&pending, SIGNALS_SIZE, 0, 0);
    const struct beneath_thread *self = thread_self();
    pending |= (self->signals.pending.set | here()->beneath.arrived | common_set()) & self->signals.mask;
    memcpy((void *)call->first, &pending, (size_t)call->second);
    return result;
}

long arrived_sigprocmask(const struct call *call) {
    struct beneath_thread *self = thread_self();
    const uint64_t *asked = (const uint64_t *)call->second;
    uint64_t *before = (uint64_t *)call->third, old = self->signals.mask, mask = old;
    if (call->fourth != SIGNALS_SIZE)
        return -EINVAL;
    if (asked) {
        switch ((int)call->first) {
        case SIG_BLOCK:
            mask |= *asked;
            break;
        case SIG_UNBLOCK:
            mask &= ~*asked;
            break;
        case SIG_SETMASK:
            mask = *asked;
            break;
        default:
            return -EINVAL;
        }
        mask &= ~never_blocked;
        self->signals.mask = mask;
        if (mask != here()->signals.mask)
            kernel_mask(mask);
        if (arrived_any(mask) || (dispatcher_guard.several && (mask & ~old))) {
            dispatcher_enter();
            descriptors_close();
            if (arrived_any(mask))
                arrived_interrupt(); /* it no longer takes those that have come */
            dispatcher_unblocked();
            dispatcher_leave();
        }
    }
    if (before)
        *before = old;
    return 0;
}

long arrived_sigaltstack(const struct call *call) {
    long result = call_kernel(call);
    const stack_t *asked = (const stack_t *)call->first;
    if (result == 0 && asked) {
        thread_self()->signals.stack = *asked;
        here()->signals.stack.base = asked->ss_sp;
        here()->signals.stack.size = asked->ss_size;
        here()->signals.stack.flags = asked->ss_flags;
    }
    return result;
}

/* More may be blocked by all now. */
static void close_for_all(void) {
    if (!dispatcher_guard.several)
        return;
    dispatcher_enter();
    descriptors_close();
    dispatcher_leave();
}

void arrived_mask_for_a_wait(const uint64_t *mask) {
    if (!mask)
        return;
    thread_self()->signals.mask = *mask & ~never_blocked;
    kernel_mask(thread_self()->signals.mask);
    close_for_all();
}

void arrived_mask_again(const uint64_t *mask) {
    if (!mask)
        return;
    struct beneath_thread *self = thread_self();
    /* What has ended the wait comes with the mask of the wait. */
    here_set_inside(true);
    self->signals.mask = *mask;
    kernel_mask(*mask);
    close_for_all();
}

/* It runs on another processor, perhaps in code of its own. */
static void interrupt_elsewhere(const struct beneath_thread *thread) {
    const struct processor *other = processors_runner_of(&thread->member.dispatched);
    if (other && other != processor_here())
        processors_interrupt(other);
}

long arrived_direct(struct beneath_thread *thread, const siginfo_t *info) {
    int signal = info->si_signo;
    bool awaited = thread->signals.awaited & signal_bit(signal), blocked = thread->signals.mask & signal_bit(signal);
    if (!has_handler(signal) && !blocked && !awaited) { /* the effect is the process's, whatever the caller blocks */
        uint64_t mask = signal_mask_now();
        signal_mask(mask & ~signal_bit(signal));
        long result = system_tgkill(system_getpid(), system_gettid(), signal);
        signal_mask(mask);
        return result;
    }
    long result = pending_add(&thread->signals.pending, info);
    if (result < 0 || (blocked && !awaited))
        return result;
    if (may_interrupt(thread)) {
        interrupt(thread);
        dispatcher_unblocked();
    } else if (dispatcher_guard.several) {
        interrupt_elsewhere(thread);
    }
    return 0;
}

/* `given`: its data, if the caller has said them. */
static long send_to(int number, int signal, const siginfo_t *given, const struct call *call) {
    struct beneath_thread *thread = thread_numbered(number);
    if (!thread)
        return call_kernel(call);
    if (signal < 0 || signal > SIGNALS)
        return -EINVAL;
    if (signal == 0)
        return 0;
    siginfo_t info = {
        .si_code = SI_TKILL, .si_pid = system_getpid(), .si_uid = (uid_t)system_call(SYS_getuid, 0, 0, 0, 0)};
    if (given)
        info = *given;
    info.si_signo = signal;
    return arrived_direct(thread, &info);
}

long arrived_send(int number, int signal, const siginfo_t *given, const struct call *call) {
    dispatcher_enter();
    long result = send_to(number, signal, given, call);
    dispatcher_leave();
    return result;
}

long arrived_sigsuspend(const struct call *call) {
    const uint64_t *mask = (const uint64_t *)call->first;
    if (call->second != SIGNALS_SIZE)
        return -EINVAL;
    uint64_t before = thread_self()->signals.mask;
    arrived_mask_for_a_wait(mask);
    while (thread_wait_alone(BLOCK_SIGNAL, DISPATCHER_FOREVER) != EINTR)
        ;
    arrived_leave();
    arrived_mask_again(&before);
    return -EINTR;
}

/* Also one that has a handler and is not blocked, as in the kernel. */
static bool take_awaited(uint64_t set, siginfo_t *info) {
    dispatcher_enter();
    bool any = take_one(thread_self(), set, info);
    dispatcher_leave();
    if (any)
        signal_mask(here()->signals.mask); /* it may come again */
    return any;
}

/* What pends in the kernel is looked for now and then: nothing tells that it has come, because it is blocked. */
long arrived_sigtimedwait(const struct call *call) {
    enum { LOOK_FIRST = 200000, LOOK_LAST = 4000000 };
    const uint64_t *set = (const uint64_t *)call->first;
    const struct timespec *time = (const struct timespec *)call->third, none = {0};
    int64_t end = time ? instant_after(time) : DISPATCHER_FOREVER;
    if (end < 0 || call->fourth != SIGNALS_SIZE)
        return -EINVAL;
    struct beneath_thread *self = thread_self();
    bool interrupted = false;
    for (int64_t pause = LOOK_FIRST;; pause = pause < LOOK_LAST ? pause * 2 : pause) {
        siginfo_t info;
        struct call at_once = *call;
        at_once.second = (long)&info;
        at_once.third = (long)&none;
        long result = take_awaited(*set, &info) ? info.si_signo : call_at_once(&at_once);
        if (result == -EAGAIN && interrupted)
            result = -EINTR;
        if (result > 0 && call->second)
            *(siginfo_t *)call->second = info;
        if (result != -EAGAIN || clock_now() >= end)
            return result;
        int64_t soon = instant_in(pause);
        self->signals.awaited = *set;
        thread_wait_alone(BLOCK_SIGNAL, soon < end ? soon : end);
        self->signals.awaited = 0;
        interrupted = arrived_for(self); /* a handler comes, not what it waits for */
    }
}

void arrived_restart(struct beneath_thread *self) {
    pending_forget(&self->signals.pending, ~UINT64_C(0));
    pending_forget(&common, ~UINT64_C(0));
    here()->beneath.arrived = 0;
}
