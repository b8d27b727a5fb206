/*
 * The runtime as a thread library on sa.h: a thread that blocks in the kernel leaves the processor.
 *
 * An upcall goes on in the name of the thread that it interrupted, or that has blocked. It blocks for that thread in
 * the dispatcher, or lets the policy take the processor from it. When the policy comes back to the thread, it comes
 * back to the upcall, which ends by resuming what was interrupted, on the kernel thread where that waits.
 *
 * With several processors, each is carried by the processor of sa.h that has its number. A kernel thread that enters
 * the runtime is held, looks which processor it has now, and takes the lock. An idle one is held, too, wherever it
 * sleeps, and lets upcalls come when a signal says that there is one. That is made in the name of the idle context,
 * which is not switched from.
 */
#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "contexts/here.h"
#include "contexts/libc.h"
#include "contexts/system.h"
#include "contexts/text.h"
#include "contexts/tools.h"
#include "preemption/preemption.h"
#include "process/activations.h"
#include "process/kernel_threads.h"
#include "process/overflow.h"
#include "process/own_code.h"
#include "process/processor_time.h"
#include "process/report.h"
#include "process/runtime.h"
#include "process/signals.h"
#include "sa.h"

enum { STACKS = SA_STACKS_MOST, STACK_SIZE = 32 << 10 };

extern const char __start_catapults_text[] __attribute__((weak, visibility("hidden")));
extern const char __stop_catapults_text[] __attribute__((weak, visibility("hidden")));

/* What the dispatcher is told of a kernel thread. */
struct carrier {
    int *error_number;
    struct dispatcher_exceptions *exceptions;
};

/* A thread that is blocked in the kernel, or was interrupted; on the stack of its upcall. */
struct away {
    struct dispatcher_thread *thread; /* NULL: it is idle */
    ucontext_t *context;              /* once it is back */
    int64_t since;
    struct away *next, **link; /* in the list of those that have left their processors in the middle of their code */
};

static struct away *away[SA_ACTIVATIONS_MOST + 1]; /* by activation */
static int64_t blocked;                            /* how many there are */
static uint64_t told;                              /* how often any came back */
static struct carrier carrier;                     /* of the processor */
static struct dispatcher_exceptions no_exceptions;
static char *stacks;

static bool running;
static bool preempts;

/* For several processors. */
static bool several;
static struct dispatcher_guard inner; /* the dispatcher's: its lock */

/* Of each processor. What is not atomic is for the one that has it. */
static struct {
    struct processor *_Atomic processor;
    char *left;      /* the stack of its last upcall, to be given back */
    int64_t armed;   /* the instant that the dispatcher has asked for; 0: none */
    int64_t look_at; /* when to look whether handlers of signals can run now; 0: there are none */
} carried[SA_PROCESSORS_MOST];

bool activations_running(void) { return running; }

TOOLS_UNSEEN struct processor *activations_processor(void) {
    int number = sa_processor();
    return number < 0 ? NULL : several ? carried[number].processor : &dispatcher_processor;
}

/* The calling kernel thread carries a processor, for the first time. */
static void begin_to_carry(void) {
    if (here()->process.carried)
        return;
    here()->process.carried = here()->process.runs_threads = true;
    overflow_attach(NULL, OVERFLOW_STACK);
    processor_time_attach(system_gettid());
}

/* Not to be optimized together with its callers: the kernel thread changes under them. */
__attribute__((noipa)) static struct carrier carrier_here(void) {
    struct dispatcher_exceptions *exceptions = libc_exceptions();
    return (struct carrier){.error_number = libc_error_number(),
                            .exceptions = exceptions ? exceptions : &no_exceptions};
}

static void carry(struct carrier next) {
    carrier = next;
    dispatcher_carry(next.error_number, next.exceptions);
}

/* 0: it is in the layer, and stands elsewhere. */
static uintptr_t program_counter(const ucontext_t *context) {
#if defined(__x86_64__)
    return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#else
    return (uintptr_t)context->uc_mcontext.pc;
#endif
}

/* It is in its own code, where it has no lock of libc's. */
static bool in_application(const ucontext_t *context) { return own_code_has(program_counter(context)); }

/* ---- Upcalls ----------------------------------------------------------------------------------------------------- */

static char *stack_of(const void *address) {
    return stacks + ((size_t)((const char *)address - stacks) & ~(size_t)(STACK_SIZE - 1));
}

static void give_stack(char *stack) {
    tools_clean(stack, STACK_SIZE);
    sa_stacks(1, &(stack_t){.ss_sp = stack, .ss_size = STACK_SIZE});
}

static struct away *aside;

static void set_aside(struct away *mine) {
    struct dispatcher_thread *self = dispatcher_self();
    mine->thread = self == &processor_here()->idle ? NULL : self;
    mine->since = catapults_now();
    mine->next = aside;
    mine->link = &aside;
    if (aside)
        aside->link = &mine->next;
    aside = mine;
}

static void take_up(const struct away *mine) {
    *mine->link = mine->next;
    if (mine->next)
        mine->next->link = mine->link;
}

static void block(int activation, struct away *mine) {
    mine->context = NULL;
    away[activation] = mine;
    blocked++;
    set_aside(mine);
    dispatcher_block(BLOCK_KERNEL, DISPATCHER_FOREVER);
    take_up(mine);
}

static void unblock_one(int activation, ucontext_t *context) {
    struct away *other = away[activation];
    away[activation] = NULL;
    other->context = context;
    blocked--;
    told++;
    dispatcher_unblock_only(other->thread);
}

static void unblock(struct sa_t *sas[], int events) {
    for (int i = 1; i <= events; i++)
        unblock_one(sas[i]->sa_id, sas[i]->sa_context);
    dispatcher_unblocked();
}

/* The caller has the processor, and is not interrupted. */
static void follow(void) {
    struct carrier own = carrier_here();
    const struct sa_t *self = sa_self();
    dispatcher_carry_on(carried[self->sa_cpu].processor, own.error_number, own.exceptions);
}

/* Contexts that came back, by activation, and a list of them. UNBLOCKED may overtake BLOCKED, which then finds it
 * here. */
static struct {
    ucontext_t *_Atomic context;
    _Atomic bool listed;
    int next;
} back[SA_ACTIVATIONS_MOST + 1];
static _Atomic int back_first; /* 0: none */

static void put_back(const struct sa_t *activation) {
    int id = activation->sa_id;
    back[id].context = activation->sa_context;
    if (atomic_exchange(&back[id].listed, true))
        return;
    int first = back_first;
    do
        back[id].next = first;
    while (!atomic_compare_exchange_weak(&back_first, &first, id));
}

static void signals_came(void) {
    if (!__atomic_load_n(&signals.arrived, __ATOMIC_ACQUIRE))
        return;
    told++;
    signals_take_up_only();
}

/* With the lock: attends to what has come up for the processor. The thread in whose name this is may lose it. */
static void attend(void) {
    dispatcher_entered();
    int id = atomic_exchange(&back_first, 0);
    while (id) {
        int next = back[id].next;
        back[id].listed = false;
        ucontext_t *context = away[id] ? atomic_exchange(&back[id].context, NULL) : NULL;
        if (context)
            unblock_one(id, context);
        id = next;
    }
    signals_came();
    const struct processor *here = processor_here();
    if (here->current == &here->idle)
        dispatcher_unblocked_for_later();
    else
        dispatcher_unblocked();
}

/* Held, without the lock. If another has that, it does the same afterwards. */
static void settle(void) {
    while (__builtin_expect(back_first != 0, 0) && processors_try_lock()) {
        attend();
        inner.leave();
    }
}

/* The thread that forks has the runtime's lock, and waits for those of libc's allocator. An upcall that has interrupted
 * malloc does not wait for the former. */
static _Atomic bool forking;

static bool is_back(int activation) { return back[activation].context != NULL; }

static bool is_forking(int unused) { return (void)unused, forking; }

enum { SOON = 100000 }; /* nanoseconds until what must not be left, or interrupted by handlers, is looked at again */

static void set_alarm(int number) {
    int64_t armed = carried[number].armed, look_at = carried[number].look_at;
    /* Fails only for a processor that has gone: the one that has its threads looks at the time, too. */
    sa_alarm(number, armed && (!look_at || armed < look_at) ? armed : look_at);
}

/* Time is up, a processor was interrupted by another, or a thread has handlers to run. */
static void look_at_time(void) {
    int number = sa_self()->sa_cpu;
    int64_t now = catapults_now(), armed = carried[number].armed;
    bool called = several && processors_called(false);
    carried[number].look_at = 0;
    if (!preempts)
        return;
    if (!called && (!armed || now < armed)) {
        set_alarm(number);
        return;
    }
    carried[number].armed = 0;
    if (dispatcher_interrupted_within()) {
        carried[number].armed = now + SOON;
        set_alarm(number);
    }
}

/* In the name of a thread that was interrupted, and may lose the processor. */
static void attend_for(int type, struct away *mine) {
    if (!processors_lock_unless(is_forking, 0))
        return;
    set_aside(mine);
    attend();
    if (type == SA_UPCALL_USER)
        look_at_time();
    take_up(mine);
    inner.leave();
}

/* In the name of a thread that has blocked. */
static void block_unless_back(int activation, struct away *mine) {
    while (!mine->context && !processors_lock_unless(is_back, activation))
        mine->context = atomic_exchange(&back[activation].context, NULL);
    if (mine->context)
        return;
    dispatcher_entered();
    mine->context = atomic_exchange(&back[activation].context, NULL);
    if (!mine->context)
        block(activation, mine);
    inner.leave();
}

/* ---- Signals ----------------------------------------------------------------------------------------------------- */

/* Code that was interrupted for handlers, and waits on its kernel thread; on the stack of its thread, below it. */
struct stopped {
    ucontext_t *context;
    struct carrier carrier; /* with one processor: that kernel thread's */
    struct stopped *before;
};

static uint64_t blocked_signals; /* outside of the application's own handlers */

/* For the thread in whose name an upcall goes on: its signals wait for the end of that. NULL: it looks by itself. */
static struct member *begin_to_look(struct dispatcher_thread *thread) {
    const struct processor *here = processor_here();
    if (thread == &here->idle || here->attends || thread->state == THREAD_ENDED ||
        member_of(thread)->signals.place != SIGNAL_PLACE_ELSEWHERE)
        return NULL;
    __atomic_store_n(&member_of(thread)->signals.place, SIGNAL_PLACE_UPCALL, __ATOMIC_SEQ_CST);
    return member_of(thread);
}

/* Its own code, and in no handler that it has of the kernel, as in `preemption_where`; or what has sent the signal. */
static bool lets_handlers_in(const ucontext_t *context, const siginfo_t *sent) {
    uint64_t mask = signal_word(&context->uc_sigmask);
    if (((mask ^ blocked_signals) & ~signals.taken) != 0 || (context->uc_stack.ss_flags & SS_ONSTACK))
        return false;
    return in_application(context) ||
           (sent->si_signo && program_counter(context) && preemption_has_sent(sent, context));
}

/* Whether the thread has handlers to run, and may here. `sent`: the signal for which it was interrupted, or zero. */
static bool has_to_handle(struct member *self, const ucontext_t *context, const siginfo_t *sent) {
    if (!self)
        return false;
    __atomic_store_n(&self->signals.place, SIGNAL_PLACE_ELSEWHERE, __ATOMIC_SEQ_CST);
    if (__builtin_expect(!__atomic_load_n(&self->signals.due, __ATOMIC_SEQ_CST), 1))
        return false;
    if (!self->dispatched.hold_depth && lets_handlers_in(context, sent))
        return true;
    if (!several)
        signals_postpone_for(self);
    int number = sa_self()->sa_cpu;
    carried[number].look_at = catapults_now() + SOON;
    set_alarm(number);
    return false;
}

/* Whether the context may go on. If its turn ends from now on, it finds that out, or is interrupted. */
static bool may_go_on(void) { return forking || !*(volatile bool *)&carried[sa_self()->sa_cpu].processor->over; }

/* In the name of the thread, on its own stack; held. */
static _Noreturn void handle_signals(void *stopped_) {
    struct stopped stopped = *(const struct stopped *)stopped_; /* which is on the stack of the upcall */
    struct member *self = member_here();
    tools_come(&self->dispatched.context.tools);
    stopped.before = self->signals.stopped;
    self->signals.stopped = &stopped;
    sa_release();
    signals_run(self);
    if (running && !several) {
        sa_hold();
        carry(stopped.carrier);
    }
    while (running && several) {
        sa_hold();
        follow();
        if (may_go_on())
            break;
        sa_release();
        dispatcher_enter();
        dispatcher_leave();
    }
    self->signals.stopped = stopped.before;
    sa_resume(stopped.context);
}

/* By an upcall in the name of the thread. The upcall's stack is not used any more. */
static _Noreturn void call_handlers(struct stopped *stopped) {
    tools_go(&dispatcher_self()->context.tools);
    sa_call(stopped->context, handle_signals, stopped);
}

void activations_forget(struct member *self, const struct stopped *until) {
    while (self->signals.stopped != until) {
        sa_forget(self->signals.stopped->context);
        self->signals.stopped = self->signals.stopped->before;
    }
}

/* ---- Of several processors --------------------------------------------------------------------------------------- */

/* In the name of a thread: tells what the upcall says. */
static void tell_one_of_several(enum sa_upcall type, struct sa_t *sas[], int events, const siginfo_t *sent,
                                struct away *mine) {
    for (int i = 1; type == SA_UPCALL_UNBLOCKED && i <= events; i++)
        put_back(sas[i]);
    while (sent->si_signo && !preemption_keep(sent))
        attend_for(type, mine);
    if (sent->si_signo)
        signals_arrived();
    if (type == SA_UPCALL_BLOCKED)
        block_unless_back(sas[1]->sa_id, mine);
    else
        attend_for(type, mine);
    while (!may_go_on())
        attend_for(SA_UPCALL_UNBLOCKED, mine);
}

/* Held once, as after entering: it can leave the release to the one that it goes on with. */
static void upcall_of_several(enum sa_upcall type, struct sa_t *sas[], int events, const siginfo_t *sent, char *stack,
                              struct away *mine) {
    struct stopped stopped;
    bool handles = false;
    switch (type) {
    case SA_UPCALL_NEWPROC:
        if (events == 0) {
            struct carrier own = carrier_here();
            dispatcher_process(carried[sas[0]->sa_cpu].processor, own.error_number, own.exceptions);
        }
        break;
    case SA_UPCALL_BLOCKED:
    case SA_UPCALL_UNBLOCKED:
    case SA_UPCALL_SIGNAL:
    case SA_UPCALL_USER: {
        follow();
        struct dispatcher_thread *self = dispatcher_self();
        struct member *looks = begin_to_look(self);
        struct tools_context own;
        tools_move(&self->context.tools, &own, stack, STACK_SIZE);
        tell_one_of_several(type, sas, events, sent, mine);
        tools_move_back(&self->context.tools, &own);
        handles = has_to_handle(looks, mine->context, sent);
        stopped = (struct stopped){.context = mine->context};
        break;
    }
    case SA_UPCALL_PREEMPTED:
    case SA_UPCALL_SIGEV:
        break;
    }
    int number = sa_self()->sa_cpu;
    char *before = carried[number].left;
    carried[number].left = stack;
    if (before)
        give_stack(before);
    if (handles)
        call_handlers(&stopped);
    sa_resume(mine->context);
}

/* ---- Of one processor -------------------------------------------------------------------------------------------- */

static void signal_came(const siginfo_t *info) {
    told++;
    signals_post_arrived(info);
    dispatcher_unblocked();
}

/* In the name of a thread: tells what the upcall says. */
static void tell(enum sa_upcall type, struct sa_t *sas[], int events, const siginfo_t *sent, struct away *mine) {
    if (type == SA_UPCALL_BLOCKED) {
        block(sas[1]->sa_id, mine);
        return;
    }
    set_aside(mine);
    switch (type) {
    case SA_UPCALL_UNBLOCKED:
        unblock(sas, events);
        break;
    case SA_UPCALL_SIGNAL:
        signal_came(sent);
        break;
    case SA_UPCALL_PREEMPTED:
    case SA_UPCALL_USER:
        look_at_time();
        break;
    case SA_UPCALL_BLOCKED: /* see above */
    case SA_UPCALL_NEWPROC:
    case SA_UPCALL_SIGEV:
        break;
    }
    take_up(mine);
}

static void upcall(int type, struct sa_t *sas[], int events, int interrupted, void *argument) {
    begin_to_carry();
    struct carrier before = carrier;
    char *stack = stack_of(&before);
    const struct sa_t *last = sas[events + interrupted];
    struct away mine = {.context = type == SA_UPCALL_BLOCKED ? NULL : last->sa_context};
    const siginfo_t sent = type == SA_UPCALL_SIGNAL ? *(const siginfo_t *)argument : (siginfo_t){0};
    if (several)
        upcall_of_several((enum sa_upcall)type, sas, events, &sent, stack, &mine);
    bool handles = false;
    if (type != SA_UPCALL_NEWPROC) {
        struct dispatcher_thread *self = dispatcher_self();
        struct member *looks = begin_to_look(self);
        struct tools_context own;
        tools_move(&self->context.tools, &own, stack, STACK_SIZE);
        carry(carrier_here());
        tell((enum sa_upcall)type, sas, events, &sent, &mine);
        tools_move_back(&self->context.tools, &own);
        handles = has_to_handle(looks, mine.context, &sent);
        if (!handles)
            carry(before);
    }
    give_stack(stack); /* nobody takes it before the caller has left it: that takes the processor */
    if (handles)
        call_handlers(&(struct stopped){.context = mine.context, .carrier = before});
    sa_resume(mine.context);
}

/* ---- The driver, between the dispatcher and io's -------------------------------------------------------------------
 */

static const struct dispatcher_driver *driver;

static bool busy(void) { return blocked > 0 || driver->busy(); }

/* Upcalls are put off while the dispatcher is at work; here they may come. */
static void let_upcalls_come(void) {
    dispatcher_leave();
    dispatcher_enter();
}

static void poll_between_several(int64_t instant) {
    if (instant <= 0) {
        driver->poll(instant);
        return;
    }
    uint64_t before = told;
    let_upcalls_come();
    sa_hold(); /* while it sleeps, having left */
    driver->poll(told == before ? instant : 0);
    sa_release();
    let_upcalls_come();
}

static void poll_between(int64_t instant) {
    if (several) {
        poll_between_several(instant);
        return;
    }
    uint64_t before = told;
    if (instant > 0)
        let_upcalls_come();
    driver->poll(told == before ? instant : 0);
    if (instant > 0)
        let_upcalls_come();
}

/* ---- Starting ------------------------------------------------------------------------------------------------------
 */

static int give_stacks(void) {
    stacks = system_mmap(NULL, (size_t)STACKS * STACK_SIZE, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
    if (system_failed(stacks))
        return system_error(stacks);
    stack_t given[STACKS];
    for (int i = 0; i < STACKS; i++)
        given[i] = (stack_t){.ss_sp = stacks + (size_t)i * STACK_SIZE, .ss_size = STACK_SIZE};
    return sa_stacks(STACKS, given) == STACKS ? 0 : ENOMEM;
}

static void regain(void) { sa_self(); }

int activations_start(bool many) {
    static const struct dispatcher_driver between = {.poll = poll_between, .busy = busy};
    static struct dispatcher_driver between_several;
    /* Not where the system calls are that may wait. */
    const struct sa_section runtime_text[] = {{__start_catapults_text, system_apart},
                                              {system_apart_end, __stop_catapults_text}};
    int error = give_stacks();
    begin_to_carry();
    carrier = carrier_here();
    several = many;
    blocked_signals = signal_mask_now();
    int flags = several ? SA_FLAG_FIXED : 0;
    if (!error && (sa_sections(2, runtime_text) != 0 || sa_register(upcall, NULL, flags, -1) != 0 || sa_enable() != 0))
        error = *libc_error_number();
    if (error) {
        runtime_report("threads cannot leave the processor when they block in the kernel: %s", text_of_error(error));
        return error;
    }
    driver = dispatcher_set_driver(&between);
    running = true;
    if (several) {
        between_several = between;
        between_several.kick = driver->kick;
        dispatcher_set_driver(&between_several);
        sa_hold(); /* until activations_guard */
        return 0;
    }
    dispatcher_set_guard(sa_hold, sa_release, false);
    dispatcher_guard.regain = regain;
    dispatcher_guard.regains = true;
    dispatcher_enter(); /* until the first thread runs */
    return 0;
}

/* ---- Several processors ------------------------------------------------------------------------------------------ */

static void enter(void) {
    sa_hold();
    follow();
    inner.enter();
}

static void leave(void) {
    inner.leave();
    settle();
    sa_release();
}

static void regain_one(void) { follow(); }

void activations_guard(struct processor *first) {
    carried[0].processor = first;
    inner = dispatcher_guard;
    dispatcher_set_guard(enter, leave, true);
    dispatcher_guard.regain = regain_one;
    dispatcher_guard.regains = true;
    dispatcher_enter();
    sa_release();
}

int activations_carry(uint32_t number, struct processor *processor) {
    carried[number].processor = processor;
    return sa_setconcurrency((int)number + 1) > (int)number ? 0 : *libc_error_number();
}

void activations_let_come(void) {
    settle();
    sa_release();
    sa_hold();
    follow();
}

void activations_interrupt(uint32_t number) {
    int error = *libc_error_number(); /* of the thread that calls */
    sa_interrupt((int)number);
    *libc_error_number() = error;
}

/* ---- Preemption by time ------------------------------------------------------------------------------------------ */

static void arm(int64_t instant) {
    int number = several ? (int)processor_here()->number : 0;
    carried[number].armed = instant;
    set_alarm(number);
}

void activations_preempt(struct dispatcher_host *host) {
    preempts = true;
    host->arm = arm;
}

/* ---- Fork -------------------------------------------------------------------------------------------------------- */

enum { MILLISECOND = 1000000, WITHIN_LIBC = 20 * MILLISECOND, WAITED_FOR = 200 * MILLISECOND };

/* Whether it may have been left in the middle of malloc. In the kernel it waits for a page then, or for memory. */
static bool may_have_lock(const struct away *one, int64_t now) {
    if (!one->context)
        return now - one->since < WITHIN_LIBC;
    return program_counter(one->context) && !in_application(one->context);
}

static bool may_have_locks(int64_t now) {
    for (const struct away *one = aside; one; one = one->next)
        if (may_have_lock(one, now))
            return true;
    return false;
}

/* On the caller's turn, if it can run: others that compute may be more urgent. */
static void let_one_go_on(int64_t now) {
    uintptr_t word = 0;
    for (const struct away *one = aside; one && !word; one = one->next)
        if (one->thread && one->context && may_have_lock(one, now))
            word = member_of(one->thread)->word;
    if (word)
        dispatcher_wait_for(&word, true, BLOCK_SLEEP, now + MILLISECOND);
    else
        dispatcher_block(BLOCK_SLEEP, now + MILLISECOND);
}

bool activations_before_fork(void) {
    int64_t now = catapults_now(), end = now + WAITED_FOR;
    for (; now < end && may_have_locks(now); now = catapults_now())
        let_one_go_on(now);
    forking = !may_have_locks(now);
    return forking;
}

void activations_after_fork(bool child) {
    forking = false;
    if (!child)
        return;
    aside = NULL;
    blocked = 0;
    running = runtime.activations = false;
}
