/*
 * Threads: what clone, exit and fork are to the runtime.
 */
#include "beneath/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "beneath/arrived.h"
#include "beneath/descriptors.h"
#include "beneath/elsewhere.h"
#include "beneath/futex.h"
#include "beneath/owner.h"
#include "beneath/robust.h"
#include "beneath/timers.h"
#include "beneath/variables.h"
#include "contexts/memory.h"
#include "contexts/text.h"
#include "dispatcher/trace.h"
#include "process/driver.h"
#include "process/face.h"
#include "process/kernel_threads.h"
#include "process/names.h"
#include "process/preempt.h"
#include "process/processor_time.h"
#include "process/report.h"
#include "process/runtime.h"
#include "process/scheduler_handle.h"

/* Above all that the kernel gives out (PID_MAX_LIMIT), below what a futex has for its own. */
enum { NUMBERS_FIRST = 1 << 24, NUMBERS_END = 1 << 30 };

uint64_t thread_first_mask;

static struct beneath_thread *unused;
static int number_next = NUMBERS_FIRST;
static bool numbers_come_again;

static inline uintptr_t pointer_now(void) {
    uintptr_t pointer;
    __asm__ volatile("rdfsbase %0" : "=r"(pointer));
    return pointer;
}

/* ---- Numbers ----------------------------------------------------------------------------------------------------- */

static struct beneath_thread **place_of(int number) {
    enum { PLACES = 1024 };
    static struct beneath_thread *places[PLACES];
    return &places[(unsigned)number % PLACES];
}

struct beneath_thread *thread_numbered(int number) {
    struct beneath_thread *thread = *place_of(number);
    while (thread && thread->number != number)
        thread = thread->numbered;
    return thread;
}

static void enter_number(struct beneath_thread *thread, int number) {
    struct beneath_thread **place = place_of(number);
    thread->number = number;
    thread->numbered = *place;
    *place = thread;
}

static void strike_number(struct beneath_thread *thread) {
    struct beneath_thread **place = place_of(thread->number);
    while (*place != thread)
        place = &(*place)->numbered;
    *place = thread->numbered;
}

static int take_number(void) {
    do {
        if (number_next == NUMBERS_END) {
            number_next = NUMBERS_FIRST;
            numbers_come_again = true;
        }
        number_next++;
    } while (numbers_come_again && thread_numbered(number_next - 1));
    return number_next - 1;
}

/* ---- Records ----------------------------------------------------------------------------------------------------- */

struct beneath_thread *thread_take(void) {
    uint64_t last_name = STACK_UNNAMED;
    size_t size = offsetof(struct beneath_thread, member) + runtime.member_size;
    while (unused && unused->member.dispatched.room < runtime_room())
        unused = unused->next; /* from before a policy that needs more: it stays, because words may name it */
    struct beneath_thread *thread = unused;
    struct variables *variables = thread ? thread->variables : NULL;
    if (thread) {
        unused = thread->next;
        last_name = thread->last_name;
        memset(thread, 0, offsetof(struct beneath_thread, vectors));
        memset(&thread->member, 0, runtime.member_size);
    } else if (!(thread = memory_take(size))) {
        return NULL;
    }
    thread->last_name = last_name;
    thread->member.dispatched.room = runtime_room();
    thread->variables = variables;
    if (!variables_begin(thread) || !names_give(&thread->member, &thread->last_name)) {
        thread_give(thread);
        return NULL;
    }
    thread->member.stack = &thread->nowhere;
    thread->member.dispatched.excepted = true; /* thread_exchange is to be called */
    return thread;
}

void thread_give(struct beneath_thread *thread) {
    thread->next = unused;
    unused = thread;
}

size_t thread_values(const struct member *member, struct catapults_value *values) {
    const struct beneath_thread *thread = thread_of((struct dispatcher_thread *)&member->dispatched);
    _Static_assert(SCHEDULING_VALUES + OWNER_VALUES <= FACE_VALUES, "face.h");
    scheduling_values(&thread->scheduling, values);
    owner_values(thread, values + SCHEDULING_VALUES);
    return SCHEDULING_VALUES + OWNER_VALUES;
}

struct member *thread_first(void) {
    struct beneath_thread *self = thread_take();
    if (!self)
        return NULL;
    enter_number(self, system_gettid());
    self->scheduling.policy = (int)system_call(SYS_sched_getscheduler, 0, 0, 0, 0);
    self->scheduling.nice = KERNELS_ZERO - (int)system_call(SYS_getpriority, PRIO_PROCESS, 0, 0, 0);
    size_t size;
    system_call(SYS_get_robust_list, 0, (long)&self->robust, (long)&size, 0); /* cannot fail: it is the caller's */
    system_call(SYS_prctl, PR_GET_TID_ADDRESS, (long)&self->clear, 0,
                0); /* some kernels do not tell: nobody joins it */
    self->pointer = pointer_now();
    self->signals.mask = thread_first_mask;
    self->signals.stack.ss_flags = SS_DISABLE;
    text_format(self->member.name, sizeof self->member.name, "main");
    return &self->member;
}

void thread_exchange(struct dispatcher_thread *from, struct dispatcher_thread *to) {
    if (from)
        beneath_vectors_save(&thread_of(from)->vectors);
    if (!to) {
        arrived_idle();
        return;
    }
    struct beneath_thread *next = thread_of(to);
    __asm__ volatile("wrfsbase %0" : : "r"(next->pointer));
    variables_exchange(next);
    arrived_exchange(next);
    beneath_vectors_load(&next->vectors);
}

static int wait(const uintptr_t *to, enum dispatcher_reason reason, int64_t instant) {
    struct beneath_thread *self = thread_self();
    if (arrived_for(self))
        return EINTR;
    self->signals.waits = true;
    descriptors_open_for(self->signals.mask);
    variables_wait(self, reason);
    int result = to ? dispatcher_wait_for(to, true, reason, instant) : dispatcher_block(reason, instant);
    variables_waited(self);
    self->signals.waits = false;
    bool interrupted = self->signals.interrupted;
    self->signals.interrupted = false;
    return interrupted ? EINTR : result;
}

int thread_wait(enum dispatcher_reason reason, int64_t instant) { return wait(NULL, reason, instant); }

int thread_lend(const uintptr_t *to, enum dispatcher_reason reason, int64_t instant) {
    return wait(to, reason, instant);
}

int thread_wait_alone(enum dispatcher_reason reason, int64_t instant) {
    dispatcher_enter();
    int result = thread_wait(reason, instant);
    dispatcher_leave();
    return result;
}

/* ---- Beginning --------------------------------------------------------------------------------------------------- */

/* What both calls ask for. */
struct request {
    uint64_t flags;
    char *top; /* of the stack; NULL: the caller's */
    uintptr_t pointer;
    int *parent_number, *child_number;
};

static struct request request_of(const struct call *call) {
    if (call->number == SYS_clone3) {
        const struct clone_args *asked = (const struct clone_args *)call->first;
        return (struct request){.flags = asked->flags,
                                .top = asked->stack ? (char *)asked->stack + asked->stack_size : NULL,
                                .pointer = asked->tls,
                                .parent_number = (int *)asked->parent_tid,
                                .child_number = (int *)asked->child_tid};
    }
    return (struct request){.flags = (uint64_t)call->first,
                            .top = (char *)call->second,
                            .parent_number = (int *)call->third,
                            .child_number = (int *)call->fourth,
                            .pointer = (uintptr_t)call->fifth};
}

static void begin(void *argument) {
    struct beneath_thread *self = argument;
    struct call *call = (struct call *)self->call;
    dispatcher_begin();
    arrived_leave();
    beneath_first(call);
}

static long make(const struct call *call, const struct request *asked) {
    dispatcher_enter();
    struct beneath_thread *self = thread_self(), *thread = thread_take();
    if (!thread) {
        dispatcher_leave();
        return -EAGAIN;
    }
    /* As if it returned from the same call, on its own stack. */
    struct call *own = (struct call *)(asked->top - RED_ZONE) - 1;
    *own = *call;
    thread->call = own;
    enter_number(thread, take_number());
    thread->scheduling = self->scheduling;
    thread->pointer = asked->flags & CLONE_SETTLS ? asked->pointer : self->pointer;
    thread->clear = asked->flags & CLONE_CHILD_CLEARTID ? (uint32_t *)asked->child_number : NULL;
    thread->signals.mask = self->signals.mask;
    thread->signals.stack.ss_flags = SS_DISABLE;
    vectors_begin(&thread->vectors);
    int number = thread->number;
    if (asked->flags & CLONE_PARENT_SETTID)
        *asked->parent_number = number;
    if (asked->flags & CLONE_CHILD_SETTID)
        *asked->child_number = number;
    void *top = (void *)((uintptr_t)own & ~(uintptr_t)15);
    const struct catapults_stop *stop = dispatcher_create(scheduler_default->dispatched, &thread->member.dispatched,
                                                          &thread->nowhere, top, begin, thread);
    if (stop) {
        refusal_keep(&self->member.refusal, stop);
        thread->member.word = 0;
        strike_number(thread);
        thread_give(thread);
    }
    dispatcher_leave();
    return stop ? -EAGAIN : number; /* by now it may have ended */
}

/* `waits`: until the child is another program, or has ended. Of that a pipe tells, which the child has until then. */
static long make_process(const struct call *call, bool waits) {
    struct call fork = *call;
    int ends[2];
    waits = waits && call->number == SYS_clone && system_call(SYS_pipe2, (long)ends, O_CLOEXEC, 0, 0) == 0;
    if (waits)
        fork.first &= ~CLONE_VFORK;
    dispatcher_enter(); /* so that the child finds everything complete */
    long child = call_kernel(&fork);
    if (child == 0)
        thread_restart();
    dispatcher_leave();
    if (!waits)
        return child;
    if (child == 0) {
        system_close(ends[0]); /* the other end is closed with the program */
        return child;
    }
    struct pollfd end = {.fd = ends[0], .events = POLLIN};
    system_close(ends[1]); /* closed, whatever it says */
    const uint64_t all = ~UINT64_C(0), mask = thread_self()->signals.mask;
    arrived_mask_for_a_wait(&all); /* handlers run afterwards */
    while (child > 0 && descriptors_look(&end, 1) == 0)
        descriptors_wait(&end, 1, BLOCK_KERNEL, DISPATCHER_FOREVER);
    arrived_mask_again(&mask);
    system_close(ends[0]); /* as above */
    return child;
}

long thread_clone(struct call *call) {
    struct request asked = request_of(call);
    const uint64_t process = CLONE_VM | CLONE_VFORK | CLONE_THREAD;
    if (asked.flags & CLONE_THREAD)
        return asked.top && (asked.flags & CLONE_VM) ? make(call, &asked) : -EINVAL;
    if ((asked.flags & process) == (CLONE_VM | CLONE_VFORK) && asked.top)
        return beneath_child_on_stack(call); /* it has the processor until it is another program, or has ended */
    if (asked.flags & CLONE_VM)
        return -ENOSYS; /* two processes would share this runtime */
    return make_process(call, asked.flags & CLONE_VFORK);
}

/* ---- The end ----------------------------------------------------------------------------------------------------- */

/* On the kernel thread's own stack: whoever finds the word cleared may unmap the thread's. */
static void end(void *ending) {
    struct beneath_thread *self = ending, *heir = NULL;
    if (self->clear) {
        __atomic_store_n(self->clear, 0, __ATOMIC_SEQ_CST);
        heir = futex_take(self->clear);
    }
    thread_give(self);
    dispatcher_exit(heir ? &heir->member.dispatched : NULL);
}

void thread_exit(void) {
    dispatcher_enter();
    struct beneath_thread *self = thread_self();
    robust_end(self);
    self->signals.mask = ~UINT64_C(0);
    arrived_retarget(self);
    dispatcher_unblocked();
    dispatcher_own_turn();
    pending_forget(&self->signals.pending, ~UINT64_C(0));
    self->member.word = 0;
    strike_number(self);
    beneath_on_stack(here()->beneath.last_stack, end, self);
}

/* ---- Fork -------------------------------------------------------------------------------------------------------- */

void thread_restart(void) {
    struct beneath_thread *self = thread_self();
    runtime.forks++;
    processors_restart();
    dispatcher_trace_to(NULL); /* the parent writes there */
    struct dispatcher_thread *next;
    for (struct dispatcher_thread *t = dispatcher_first_thread(); t; t = next) {
        next = dispatcher_next_thread(t);
        if (t == &self->member.dispatched)
            continue;
        thread_of(t)->member.word = 0;
        pending_forget(&thread_of(t)->signals.pending, ~UINT64_C(0));
        strike_number(thread_of(t));
        thread_give(thread_of(t));
    }
    strike_number(self);
    enter_number(self, system_gettid());
    futex_restart();
    descriptors_restart();
    elsewhere_restart();
    arrived_restart(self);
    timers_restart();
    preempt_restart();
    processor_time_restart();
    const struct catapults_stop *stop = dispatcher_restart();
    if (stop) {
        runtime_report("a child of fork is refused at line %u of the policy: %s", stop->line, stop->text);
        system_exit_group(1);
    }
}
