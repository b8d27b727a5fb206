/*
 * The public calls.
 */
#include "sa.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>

#include "activations/activation.h"
#include "activations/upcall.h"
#include "contexts/libc.h"
#include "contexts/system.h"

struct activations activations = {.concurrency = 1};

int sa_fail(int error) {
    *libc_error_number() = error;
    return -1;
}

int sa_register(sa_upcall_t upcall, sa_upcall_t *old, int flags, ssize_t stackinfo_offset) {
    if (!upcall || (flags & ~(SA_FLAG_PREEMPT | SA_FLAG_FIXED)) || (stackinfo_offset != -1 && stackinfo_offset != 0))
        return sa_fail(EINVAL);
    activations.fixed = flags & SA_FLAG_FIXED;
    sa_upcall_t before = atomic_exchange(&activations.upcall, upcall);
    if (old)
        *old = before;
    return 0;
}

int sa_stacks(int count, const stack_t *stacks) {
    int taken = 0;
    sa_hold();
    while (taken < count && stacks[taken].ss_size >= 16 << 10 && upcall_give(&stacks[taken]))
        taken++;
    if (taken)
        upcall_given();
    sa_release();
    return taken == 0 && count > 0 ? sa_fail(EINVAL) : taken;
}

int sa_setconcurrency(int processors) {
    if (processors < 1)
        return sa_fail(EINVAL);
    if (processors > SA_PROCESSORS_MOST)
        processors = SA_PROCESSORS_MOST;
    atomic_store(&activations.concurrency, processors);
    if (!atomic_load(&activations.enabled))
        return processors;
    sa_hold();
    keeper_wake();
    sa_release();
    struct cpus allowed = lwp_cpus();
    int cpus = cpus_count(&allowed);
    return processors < cpus || activations.fixed ? processors : cpus;
}

/* After fork, the child has the caller and nothing else. */
static void in_child(void) {
    atomic_store(&activations.enabled, false);
    lwp_is(NULL);
}

static int catch_signals(void) {
    int error = -interrupt_catch(activations.signal);
    if (error)
        return error;
    struct sigaction before;
    if (system_sigaction(SIGTRAP, NULL, &before) == 0 && !(before.sa_flags & SA_SIGINFO) &&
        before.sa_handler == SIG_DFL)
        activations.steps = interrupt_catch(SIGTRAP) == 0;
    return 0;
}

int sa_enable(void) {
    static bool called;
    if (!atomic_load(&activations.upcall))
        return sa_fail(EINVAL);
    if (called)
        return sa_fail(EBUSY);
    activations.signal = SIGNAL_LAST - 2;
    int error = catch_signals();
    if (error)
        return sa_fail(error);
    struct lwp *self = &sa_lwps[0];
    void *base = system_mmap(NULL, 64 << 10, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (system_failed(base))
        return sa_fail(system_error(base));
    self->base = (char *)base + (64 << 10);
    error = lwp_adopt(self);
    if (error) {
        system_munmap(base, 64 << 10); /* if it fails, nobody uses that memory */
        return sa_fail(error);
    }
    uint64_t mask = signal_mask(SIGNALS_ALL);
    activations.mask = mask & ~(UINT64_C(1) << (activations.signal - 1));
    struct sa_processor *first = &sa_processors[0];
    atomic_store(&activations.lwps, 1);
    atomic_store(&activations.processors, 1);
    atomic_store(&first->active, true);
    atomic_store(&first->carrier, self);
    self->processor = first;
    atomic_store(&self->hold_depth, 1);
    atomic_store(&self->word, LWP_RUNNING);
    error = keeper_start();
    if (!error)
        error = pthread_atfork(NULL, NULL, in_child);
    if (error) {
        signal_mask(mask);
        lwp_is(NULL);
        return sa_fail(error);
    }
    called = true;
    atomic_store(&activations.enabled, true);
    keeper_wake();
    atomic_store(&self->hold_depth, 0);
    /* The caller is the first thread of the library: a spare makes its upcall, and it waits here to be resumed. */
    struct lwp *spare = lwp_take(first);
    interrupt_set_context(self, &self->place);
    atomic_store(&self->word, LWP_PARKED);
    lwp_call(spare, first, CALL_NEWPROC, self, 0);
    lwp_park(self, spare);
    interrupt_given(self);
    signal_mask(activations.mask);
    return 0;
}

const struct sa_t *sa_self(void) {
    struct lwp *self = sa_here();
    if (UNLIKELY(!self))
        return NULL;
    if (UNLIKELY(lwp_state(self) != LWP_RUNNING) && !interrupt_regain(self)) {
        uint64_t mask = signal_mask(SIGNALS_ALL);
        interrupt_hand_in(self, &self->place);
        signal_mask(signals_open(mask));
    }
    return &self->sa;
}

int sa_processor(void) {
    const struct lwp *self = sa_here();
    enum lwp_state state = self ? lwp_state(self) : LWP_NONE;
    return state == LWP_RUNNING || state == LWP_LOST ? self->sa.sa_cpu : -1;
}

int sa_sections(int count, const struct sa_section *sections) {
    int room = sizeof activations.sections.all / sizeof *activations.sections.all;
    int have = atomic_load(&activations.sections.count);
    for (int i = 0; i < count; i++)
        if (sections[i].begin >= sections[i].end)
            return sa_fail(EINVAL);
    if (count > room - have)
        return sa_fail(ENOSPC);
    for (int i = 0; i < count; i++)
        activations.sections.all[have + i] = sections[i];
    atomic_store_explicit(&activations.sections.count, have + count, memory_order_release);
    return 0;
}

void sa_hold(void) {
    struct lwp *self = sa_here();
    if (!self)
        return;
    int depth = atomic_load_explicit(&self->hold_depth, memory_order_relaxed); /* only the caller changes it */
    atomic_store_explicit(&self->hold_depth, depth + 1, memory_order_relaxed);
    if (depth > 0)
        return;
    /* Whoever saw it without the hold finds a changed word. */
    for (;;) {
        uint32_t word = atomic_load(&self->word);
        if ((word & LWP_STATE) != LWP_RUNNING)
            sa_self();
        else if (atomic_compare_exchange_strong(&self->word, &word, word + LWP_EPOCH))
            return;
    }
}

static bool has_news(const struct lwp *self) { return atomic_load(&self->user) || interrupt_news(self->processor); }

void sa_release(void) {
    struct lwp *self = sa_here();
    if (!self)
        return;
    while (atomic_load(&self->hold_depth) == 1 && UNLIKELY(has_news(self)) && interrupt_here(self))
        ;
    if (atomic_fetch_sub(&self->hold_depth, 1) > 1)
        return;
    watch_unpark(self->processor);
    if (UNLIKELY(has_news(self))) /* just now */
        interrupt_send(self);
}

static void resume(void *context) {
    struct lwp *self = sa_here(), *lwp = (struct lwp *)((ucontext_t *)context)->uc_link;
    struct sa_processor *processor = self->processor;
    signal_mask(SIGNALS_ALL);
    lwp_let_go(self);
    lwp_resume(lwp, processor);
    lwp_wait(NULL);
}

/* What the kernel does at the end of the handler in whose frame the context is. */
_Noreturn static void end_handler(ucontext_t *context) {
#if defined(__x86_64__)
    __asm__ volatile("movq %0, %%rsp\n\tsyscall" : : "r"(context), "a"(SYS_rt_sigreturn) : "memory");
#elif defined(__aarch64__)
    register long x8 __asm__("x8") = SYS_rt_sigreturn;
    __asm__ volatile("mov sp, %0\n\tsvc #0" : : "r"((char *)context - sizeof(siginfo_t)), "r"(x8) : "memory");
#endif
    __builtin_unreachable();
}

_Noreturn void sa_resume(ucontext_t *context) {
    struct lwp *self = sa_here();
    if (UNLIKELY(!self)) /* in a child of fork: goes on where its thread was interrupted */
        end_handler(context);
    sa_hold(); /* until it is a spare */
    sa_on_stack(self->base, resume, context);
}

void sa_call(ucontext_t *context, void (*function)(void *), void *argument) {
    const struct lwp *lwp = (const struct lwp *)context->uc_link;
    sa_on_stack(lwp->below, function, argument);
}

/* Whether this is the place in the kernel where one blocked, as its upcall told: it is not PARKED. */
static bool is_blocked_place(const ucontext_t *context) {
    size_t at = (size_t)((const char *)context - (const char *)sa_lwps);
    return at < sizeof sa_lwps && at % sizeof *sa_lwps == offsetof(struct lwp, blocked);
}

int sa_forget(ucontext_t *context) {
    enum { LOOK = 20000 }; /* nanoseconds. futex_wake wakes one waiter of the word: only the activation may wait */
    if (!sa_here())
        return 0; /* in a child of fork */
    if (is_blocked_place(context))
        return sa_fail(EBUSY);
    struct lwp *lwp = (struct lwp *)context->uc_link;
    sa_hold();
    lwp_change(lwp, atomic_load(&lwp->word), LWP_FORGOTTEN); /* PARKED: nobody else changes it */
    futex_wake(&lwp->word, 1);
    while (lwp_state(lwp) == LWP_FORGOTTEN)
        system_nanosleep(LOOK); /* it looks again, however that ends */
    sa_release();
    return 0;
}

static void idle(void *unused) {
    struct lwp *self = sa_here();
    signal_mask(SIGNALS_ALL);
    upcall_idle(self);
    lwp_wait(unused);
}

int sa_yield(void) {
    struct lwp *self = sa_here();
    if (!sa_self())
        return sa_fail(EPERM);
    sa_hold();
    sa_on_stack(self->base, idle, NULL);
}

int sa_preempt(int id) {
    if (id < 1 || id > atomic_load(&activations.lwps))
        return sa_fail(ESRCH);
    struct lwp *lwp = &sa_lwps[id - 1];
    enum lwp_state state = lwp_state(lwp);
    if (state != LWP_RUNNING && state != LWP_LOST && state != LWP_RESUMED && state != LWP_IDLE)
        return sa_fail(ESRCH);
    atomic_store(&lwp->user, true);
    if (!interrupt_wake(lwp))
        interrupt_send(lwp);
    return 0;
}

int sa_interrupt(int number) {
    if (number < 0 || number >= SA_PROCESSORS_MOST || !atomic_load(&sa_processors[number].active))
        return sa_fail(ESRCH);
    interrupt_processor(&sa_processors[number]);
    return 0;
}
