/*
 * Interrupts an activation, and catches it when it comes back. Either way it then waits in a signal handler, on the
 * stack of what it ran.
 */
#include <errno.h>

#include "activations/activation.h"
#include "contexts/system.h"

enum {
    AGAIN = 50000,      /* nanoseconds until an interruption is tried again */
    HELD = 300000,      /* the same, within a hold */
    NO_SPARE = 1000000, /* until a fault that found no spare is repeated */
    TRIES = 20,         /* in a row that found a section, before it is stepped through */
    STEPS = 2000,       /* instructions stepped in a row */
    TRAP_FLAG = 0x100   /* of x86's flags: an exception after the next instruction */
};

bool interrupt_in_section(uint64_t pc) {
    int count = atomic_load_explicit(&activations.sections.count, memory_order_acquire);
    for (int i = 0; i < count; i++) {
        const struct sa_section *section = &activations.sections.all[i];
        if (pc - (uintptr_t)section->begin < (uintptr_t)section->end - (uintptr_t)section->begin)
            return true;
    }
    return false;
}

/* When too many signals pend (RLIMIT_SIGPENDING), the kernel refuses another. A timer has its own from the start. */
void interrupt_send(struct lwp *lwp) {
    const struct itimerspec now = {.it_value = {0, 1}};
    if (system_tgkill(lwp->pid, lwp->tid, activations.signal) == -EAGAIN)
        system_timer_settime(lwp->retry, 0, &now); /* fails only for an ended thread */
}

/* An activation that gets the processor meanwhile looks for the news itself. So does one that is LOST, whichever way
 * that ends. If the carrier has blocked and still has the processor, that is told first, and its system call is not
 * broken off. But it may block between the look and the signal. A carrier blocked within a hold or in a section is
 * interrupted: nobody takes the processor from it. */
void interrupt_tell(struct sa_processor *processor) {
    struct lwp *lwp = atomic_load(&processor->carrier);
    if (!lwp || interrupt_wake(lwp))
        return;
    /* The caller itself runs, though the kernel would find it in the system call that asks. */
    enum look look = lwp == sa_here() ? LOOK_RUNS : watch_look(processor, true);
    switch (look) {
    case LOOK_TAKEN:
        break;
    case LOOK_NO_SPARE:
        alarms_again(processor);
        break;
    case LOOK_RUNS:
    case LOOK_SECTION:
    case LOOK_NOTHING:
        if (lwp_state(lwp) == LWP_RUNNING)
            interrupt_send(lwp);
        break;
    }
}

void interrupt_again(struct sa_processor *processor) {
    const struct lwp *lwp = atomic_load(&processor->carrier);
    if (interrupt_news(processor) || (lwp && atomic_load(&lwp->user)))
        interrupt_tell(processor);
}

void interrupt_processor(struct sa_processor *processor) {
    atomic_fetch_or(&processor->wanted, WANTED_USER);
    interrupt_tell(processor);
}

void interrupt_push(struct lwp *_Atomic *list, struct lwp *lwp) {
    struct lwp *first = atomic_load(list);
    do
        lwp->next = first;
    while (!atomic_compare_exchange_weak(list, &first, lwp));
}

bool interrupt_wake(struct lwp *lwp) {
    uint32_t word = atomic_load(&lwp->word);
    if ((word & LWP_STATE) != LWP_IDLE || !lwp_change(lwp, word, LWP_RUNNING))
        return false;
    futex_wake(&lwp->word, 1);
    return true;
}

static bool wake_idle(struct sa_processor *processor) {
    struct lwp *lwp = atomic_load(&processor->carrier);
    return lwp && atomic_load(&processor->active) && interrupt_wake(lwp);
}

/* Those about to run look for news themselves. */
void interrupt_notify(struct sa_processor *preferred) {
    if (wake_idle(preferred))
        return;
    int processors = atomic_load(&activations.processors);
    for (int i = 0; i < processors; i++)
        if (wake_idle(&sa_processors[i]))
            return;
    if (!atomic_load(&preferred->active))
        preferred = &sa_processors[0];
    interrupt_tell(preferred);
}

bool interrupt_regain(struct lwp *self) {
    for (;;) {
        uint32_t word = atomic_load(&self->word);
        if ((word & LWP_STATE) != LWP_LOST)
            return (word & LWP_STATE) == LWP_RUNNING;
        uint32_t regained = ((word + LWP_EPOCH) & ~(uint32_t)LWP_STATE) | LWP_RUNNING;
        if (!atomic_compare_exchange_strong(&self->word, &word, regained))
            continue;
        if (interrupt_news(self->processor)) /* while it was LOST, nobody told it */
            interrupt_send(self);
        return true;
    }
}

static void try_again(struct lwp *self, long nanoseconds) {
    struct itimerspec soon = {.it_value = {0, nanoseconds}};
    self->retries = nanoseconds != 0;
    system_timer_settime(self->retry, 0, &soon); /* cannot fail: the timer is its own */
}

void interrupt_no_more(struct lwp *self) {
    if (UNLIKELY(self->retries))
        try_again(self, 0);
}

void interrupt_given(struct lwp *self) {
    if (atomic_load(&self->user) || interrupt_news(self->processor))
        interrupt_send(self);
}

/* Waits, PARKED, until somebody resumes it; then handles what has come up. */
static void park(struct lwp *self, struct lwp *called) {
    lwp_park(self, called);
    interrupt_given(self);
}

void interrupt_set_context(struct lwp *self, ucontext_t *context) {
    enum { ROOM = 2048 }; /* for the caller's frame, and for what waits in lwp_park */
    self->below = (char *)__builtin_frame_address(0) - ROOM;
    self->sa.sa_context = context;
    context->uc_link = (ucontext_t *)self; /* for sa_resume; the kernel does not use it */
}

void interrupt_hand_in(struct lwp *self, ucontext_t *context) {
    interrupt_set_context(self, context);
    struct sa_processor *processor = &sa_processors[self->sa.sa_cpu];
    uint32_t word = atomic_load(&self->word);
    lwp_change(self, word, LWP_PARKED);
    interrupt_push(&activations.returned, self);
    interrupt_notify(processor);
    park(self, NULL);
}

/* `self` runs, outside of sections: the spare that makes the upcall gets the processor. False: not now. */
static bool stop(struct lwp *self, ucontext_t *context, enum call call) {
    struct sa_processor *processor = self->processor;
    struct lwp *spare = lwp_take(processor);
    if (!spare) {
        keeper_wake();
        return false;
    }
    interrupt_set_context(self, context);
    for (;;) {
        uint32_t word = atomic_load(&self->word);
        if ((word & LWP_STATE) == LWP_RUNNING && lwp_change(self, word, LWP_PARKED))
            break;
        if (interrupt_regain(self)) /* LOST a moment ago */
            continue;
        /* It has blocked here, say for a page of this code, and somebody else has the processor. */
        lwp_put_back(processor, spare);
        interrupt_hand_in(self, context);
        return false;
    }
    lwp_call(spare, processor, call, self, 0);
    park(self, spare);
    return true;
}

/* Looking now and then never finds the end of sections that follow closely upon one another: the code is stepped
 * through. False: not possible here, or it has lasted too long. */
static bool step(struct lwp *self, ucontext_t *context) {
#if defined(__x86_64__)
    if (!activations.steps || (signal_word(&context->uc_sigmask) & UINT64_C(1) << (SIGTRAP - 1)))
        return false;
    if (self->steps++ < STEPS) {
        context->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
        return true;
    }
#endif
    (void)context;
    self->tries = self->steps = 0;
    return false;
}

/* Ends the stepping, unless it is decided anew. True: the signal reports a step. Nobody may wait for it any more: a
 * handler of the application's came first, and was interrupted for good. */
static bool stepped(const struct lwp *self, int signal, const siginfo_t *info, ucontext_t *context) {
#if defined(__x86_64__)
    bool made = activations.steps && signal == SIGTRAP && info->si_code == TRAP_TRACE;
    if (made || (self && self->steps))
        context->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
    return made;
#else
    (void)self, (void)signal, (void)info, (void)context;
    return false;
#endif
}

/* Outside of sections, or at their end. False: whoever looks first tries again; it may have blocked by then. */
static bool tell(struct lwp *self, ucontext_t *context) {
    bool user = interrupt_asked(self);
    interrupt_no_more(self);
    if ((!user && !interrupt_news(self->processor)) || stop(self, context, user ? CALL_USER : CALL_NEWS))
        return true;
    alarms_again(self->processor);
    return false;
}

bool interrupt_here(struct lwp *self) {
    uint64_t mask = signal_mask(SIGNALS_ALL);
    bool done = tell(self, &self->place);
    signal_mask(signals_open(mask));
    return done;
}

static void interrupted(struct lwp *self, ucontext_t *context, uint64_t pc) {
    if (!atomic_load(&self->user) && !interrupt_news(self->processor))
        return;
    if (atomic_load(&self->hold_depth)) { /* sa_release looks; one about to sleep before it must be woken again */
        try_again(self, HELD);
    } else if (interrupt_in_section(pc)) {
        if (++self->tries < TRIES || !step(self, context))
            try_again(self, AGAIN);
    } else {
        self->tries = self->steps = 0;
        tell(self, context);
    }
}

static bool is_fault(int signal, const siginfo_t *info) {
    return info->si_code > 0 && (signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL ||
                                 signal == SIGTRAP || signal == SIGSYS);
}

static uint64_t program_counter(const ucontext_t *context) {
#if defined(__x86_64__)
    return (uint64_t)context->uc_mcontext.gregs[REG_RIP];
#else
    return context->uc_mcontext.pc;
#endif
}

/* Undoes what a trap has done so far (see there): the context is again where it came back to. */
static void leave_trap(ucontext_t *context) {
#if defined(__x86_64__)
    greg_t *registers = context->uc_mcontext.gregs;
    uint64_t pc = program_counter(context);
    if (pc >= (uintptr_t)sa_traps && pc < (uintptr_t)sa_traps_end) {
        uint64_t in = pc - (uintptr_t)sa_traps, done = in % TRAPS_SIZE - TRAPS_SIGNATURE;
        registers[REG_RSP] += done < TRAPS_SPARED ? 0 : done < TRAPS_NAMED ? 128 : 136;
        registers[REG_RIP] = (greg_t)atomic_load(&sa_places[in / TRAPS_SIZE]);
    } else if (pc >= (uintptr_t)sa_trap && pc < (uintptr_t)sa_trap_end) {
        bool lower = pc > (uintptr_t)sa_trap && pc < (uintptr_t)sa_trap_restored;
        const greg_t *saved = (const greg_t *)registers[REG_RSP];
        uint64_t place = (uint64_t)saved[lower ? 6 : 0];
        if (lower && pc >= (uintptr_t)sa_trap_saved) {
            static const int order[] = {REG_RAX, REG_RCX, REG_RDX, REG_RSI, REG_RDI, REG_R11};
            for (int i = 0; i < 6; i++)
                registers[order[i]] = saved[i];
        }
        registers[REG_RSP] += lower ? 184 : 136;
        registers[REG_RIP] = (greg_t)(place < TRAPS_COUNT ? atomic_load(&sa_places[place]) : place);
    }
#endif
    (void)context;
}

/* Nobody could handle the fault: the library's own code made it, or none of ours. The instruction is executed again. */
static void die(int signal) {
    if (system_signal(signal, SIG_DFL) != 0)
        system_exit_group(128 + signal); /* as it would look to a shell */
}

/* The mask with which the interrupted code goes on. */
static void set_mask(ucontext_t *context) {
    signal_set_word(&context->uc_sigmask, signals_open(signal_word(&context->uc_sigmask)));
}

static bool stop_for(struct lwp *self, const siginfo_t *info, ucontext_t *context) {
    self->info = *info;
    return stop(self, context, CALL_SIGNAL);
}

/* Whether the signal was sent to this kernel thread, probably by itself, and can be told at once. */
static bool is_own(struct lwp *self, const siginfo_t *info, uint64_t pc) {
    return info->si_code == SI_TKILL && self && atomic_load(&activations.enabled) &&
           (lwp_state(self) == LWP_RUNNING || lwp_state(self) == LWP_LOST) && interrupt_regain(self) &&
           !atomic_load(&self->hold_depth) && !interrupt_in_section(pc);
}

/* Tells of it at once. False: not now; it is then no longer its own. */
static bool tell_own(struct lwp *self, const siginfo_t *info, ucontext_t *context) {
    enum { WAITED = 500 }; /* attempts: on a loaded machine it takes long until there is a spare */
    for (int tries = 0; tries < WAITED && is_own(self, info, program_counter(context)); tries++) {
        if (stop_for(self, info, context))
            return true;
        system_nanosleep(AGAIN); /* it looks again, however that ends */
    }
    return false;
}

/* tools/gdb/catapults.py knows it by its name. */
static void interrupt_handler(int signal, siginfo_t *info, void *argument) {
    ucontext_t *context = argument;
    struct lwp *self = sa_here();
    leave_trap(context);
    uint64_t pc = program_counter(context);
    bool step = stepped(self, signal, info, context);
    bool fault = !step && signal != activations.signal && is_fault(signal, info);
    if (!step && signal != activations.signal && !fault) {
        if (tell_own(self, info, context)) {
            set_mask(context);
            return;
        }
        signals_keep(info);
        interrupt_notify(self && self->processor ? self->processor : &sa_processors[0]);
    }
    if (!self || !atomic_load(&activations.enabled)) {
        if (fault)
            die(signal);
        return;
    }
    switch (lwp_state(self)) {
    case LWP_LOST:
    case LWP_RUNNING:
        if (interrupt_regain(self)) {
            if (!fault) {
                interrupted(self, context, pc);
            } else if (atomic_load(&self->hold_depth) || interrupt_in_section(pc)) {
                die(signal);
            } else {
                if (!stop_for(self, info, context))
                    system_nanosleep(NO_SPARE); /* then the fault is repeated */
            }
            break;
        }
        __attribute__((fallthrough));
    case LWP_AWAY:
        interrupt_hand_in(self, context); /* a fault is repeated when it goes on */
        break;
    case LWP_NONE:
    case LWP_STARTING:
    case LWP_SPARE:
    case LWP_TAKEN:
    case LWP_CALLED:
    case LWP_IDLE:
    case LWP_PARKED:
    case LWP_RESUMED:
    case LWP_FORGOTTEN:
    case LWP_QUITS:
        if (fault)
            die(signal);
        break;
    }
    set_mask(context);
}

int interrupt_catch(int signal) {
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_RESTART, .sa_sigaction = interrupt_handler};
    signal_set_word(&action.sa_mask, ~SIGNALS_OF_LIBC);
    return system_sigaction(signal, &action, NULL);
}
