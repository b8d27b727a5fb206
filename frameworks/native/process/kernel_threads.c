/*
 * Several processors: a kernel thread for each, the runtime's one lock, and how idle processors sleep.
 */
#include <errno.h>
#include <stdatomic.h>

#include "contexts/libc.h"
#include "contexts/memory.h"
#include "contexts/system.h"
#include "contexts/text.h"
#include "contexts/tools.h"
#include "preemption/preemption.h"
#include "process/activations.h"
#include "process/kernel_threads.h"
#include "process/overflow.h"
#include "process/preempt.h"
#include "process/processor_time.h"
#include "process/report.h"
#include "process/runtime.h"
#include "process/scheduler_handle.h"
#include "sa.h"

enum {
    STACK_SIZE = 64 << 10,
    SPINS = 100,           /* looks at the lock, which is mostly held for less than a microsecond */
    LOOK_AGAIN_AT = 100000 /* nanoseconds between looks at whether to go on waiting */
};

/* What the runtime keeps of a processor. */
struct kernel_thread {
    _Atomic uint32_t awake; /* a futex: 0 while it sleeps */
    _Atomic bool called;    /* another had it interrupted, for the dispatcher */
    _Atomic bool asked;     /* it was interrupted, and has not answered yet */
    struct processor *processor;
    pid_t thread;  /* 0: it has not begun */
    uint64_t mask; /* of signals, once it has begun */
    _Alignas(16) char signals[OVERFLOW_STACK];
    struct dispatcher_exceptions no_exceptions;
};

static struct kernel_thread first;

static void resize(void);
static bool another(void);

/* ---- How many ---------------------------------------------------------------------------------------------------- */

enum { LOOK_AGAIN = 20000000 }; /* nanoseconds until the CPUs are looked at again */

/* Reads the CPUs that exist and that the process may use: those of its first kernel thread. They change with its
 * cpuset, when one is unplugged, and when another process sets them for the number of this one. */
static bool read_cpus(struct cpus *set) { return system_sched_getaffinity(system_getpid(), set) > 0; }

static int usable(const struct cpus *set) {
    int count = cpus_count(set);
    return count < DISPATCHER_PROCESSORS ? count : DISPATCHER_PROCESSORS;
}

static int usable_now(void) {
    struct cpus set;
    return read_cpus(&set) ? usable(&set) : 1;
}

static struct {
    bool follows; /* as many processors as there are CPUs */
    int64_t looked;
    struct cpus set;
} cpus;

static bool resized(int64_t now) {
    if (!cpus.follows || now - cpus.looked < LOOK_AGAIN)
        return false;
    cpus.looked = now;
    struct cpus set;
    return read_cpus(&set) && !cpus_equal(&set, &cpus.set);
}

int processors_wanted(const struct catapults_options *options) {
    const char *text = libc_environment("CATAPULTS_PROCESSORS");
    long wanted = options->processors;
    if (wanted == 0 && text && *text) {
        uint64_t number = 0;
        bool all = text_equal(text, "all");
        if (!all && (!text_number(text, DISPATCHER_PROCESSORS, &number) || number < 1)) {
            runtime_report("CATAPULTS_PROCESSORS is \"%s\": it must be a number from 1 to %d, or \"all\"", text,
                           DISPATCHER_PROCESSORS);
            return 0;
        }
        wanted = all ? CATAPULTS_PROCESSORS_ALL : (long)number;
    } else if (wanted < CATAPULTS_PROCESSORS_ALL || wanted > DISPATCHER_PROCESSORS) {
        runtime_report("the option `processors` is %ld: it must be from 1 to %d, or CATAPULTS_PROCESSORS_ALL", wanted,
                       DISPATCHER_PROCESSORS);
        return 0;
    }
    cpus.follows = wanted == CATAPULTS_PROCESSORS_ALL && read_cpus(&cpus.set);
    if (wanted == CATAPULTS_PROCESSORS_ALL)
        wanted = cpus.follows ? usable(&cpus.set) : 1;
    return wanted == 0 ? 1 : (int)wanted;
}

int processors_refuse(void) {
    if (!runtime.activations || runtime.processors <= SA_PROCESSORS_MOST)
        return 0;
    runtime_report("with activations there are at most %d processors", SA_PROCESSORS_MOST);
    return EINVAL;
}

/* ---- The lock ---------------------------------------------------------------------------------------------------- */

enum { FREE, HELD, WANTED };
static _Atomic uint32_t word = FREE;

static void relax(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

bool processors_try_lock(void) {
    uint32_t seen = FREE;
    return atomic_compare_exchange_strong(&word, &seen, HELD);
}

static void lock(void) {
    uint32_t seen = FREE;
    if (atomic_compare_exchange_strong_explicit(&word, &seen, HELD, memory_order_acquire, memory_order_relaxed))
        return;
    for (int i = 0; i < SPINS; i++) {
        relax();
        seen = FREE;
        if (atomic_load_explicit(&word, memory_order_relaxed) == FREE &&
            atomic_compare_exchange_weak_explicit(&word, &seen, HELD, memory_order_acquire, memory_order_relaxed))
            return;
    }
    while (atomic_exchange_explicit(&word, WANTED, memory_order_acquire) != FREE)
        futex_wait(&word, WANTED, -1);
}

bool processors_lock_unless(bool (*given_up)(int argument), int argument) {
    for (int i = 0; i < SPINS; i++, relax())
        if (processors_try_lock())
            return true;
    while (atomic_exchange_explicit(&word, WANTED, memory_order_acquire) != FREE) {
        if (given_up(argument))
            return false;
        futex_wait(&word, WANTED, LOOK_AGAIN_AT);
    }
    return true;
}

static void unlock(void) {
    if (atomic_exchange(&word, FREE) == WANTED)
        futex_wake(&word, 1);
}

/* ---- Sleeping ---------------------------------------------------------------------------------------------------- */

static TOOLS_UNSEEN struct kernel_thread *kernel_thread_of(const struct processor *processor) {
    struct kernel_thread *one = dispatcher_processor_host(processor);
    return one ? one : &first;
}

static const int64_t hour = 3600 * INT64_C(1000000000);

static void sleep_(struct processor *processor) {
    struct kernel_thread *self = kernel_thread_of(processor);
    unlock();
    if (runtime.activations)
        activations_let_come();
    while (atomic_load_explicit(&self->awake, memory_order_acquire) == 0) {
        if (runtime.activations) {
            futex_wait(&self->awake, 0, hour); /* with a time limit, the kernel does not go on after a signal */
            activations_let_come();
        } else {
            futex_wait(&self->awake, 0, -1);
        }
    }
    atomic_store_explicit(&self->awake, 0, memory_order_relaxed);
    lock();
}

static TOOLS_UNSEEN void wake(struct processor *processor) {
    struct kernel_thread *other = kernel_thread_of(processor);
    atomic_store_explicit(&other->awake, 1, memory_order_release);
    futex_wake(&other->awake, 1);
}

/* ---- Interrupting ------------------------------------------------------------------------------------------------ */

TOOLS_UNSEEN void processors_interrupt(const struct processor *processor) {
    if (runtime.activations) {
        activations_interrupt(processor->number);
        return;
    }
    struct kernel_thread *one = kernel_thread_of(processor);
    if (one->thread && !atomic_exchange(&one->asked, true) &&
        system_tgkill(system_getpid(), one->thread, PREEMPTION_SIGNAL) != 0)
        atomic_store(&one->asked, false); /* the next that wants it asks again */
}

TOOLS_UNSEEN void processors_rouse(const struct processor *processor) {
    processors_interrupt(processor);
    wake((struct processor *)processor);
}

static void interrupt(struct processor *processor) {
    atomic_store(&kernel_thread_of(processor)->called, true);
    processors_interrupt(processor);
}

TOOLS_UNSEEN bool processors_called(bool still) {
    return atomic_exchange(&kernel_thread_of(processor_here())->called, still);
}

TOOLS_UNSEEN bool processors_answer(void) {
    struct kernel_thread *self = kernel_thread_of(processor_here());
    atomic_store(&self->asked, false);
    return atomic_load(&self->called);
}

const struct processor *processors_runner_of(const struct dispatcher_thread *thread) {
    for (uint32_t i = 0; i < dispatcher_processors(); i++)
        if (dispatcher_processor_at(i)->current == thread)
            return dispatcher_processor_at(i);
    return NULL;
}

TOOLS_UNSEEN void processors_alert(void) {
    static _Atomic uint32_t next;
    struct processor *here = processor_here(), *other = NULL;
    uint32_t count = dispatcher_processors(), start = atomic_fetch_add(&next, 1);
    bool idle = here->current == &here->idle;
    for (uint32_t i = 0; i < count && !idle; i++) {
        struct processor *one = (struct processor *)dispatcher_processor_at((start + i) % count);
        if (!one || one == here || one->parked)
            continue;
        other = one;
        if (one->asleep)
            break;
    }
    if (idle || (other && other->asleep))
        dispatcher_alert(idle ? here : other);
    else if (other)
        processors_interrupt(other);
}

/* ---- Starting ---------------------------------------------------------------------------------------------------- */

void processors_prepare(struct dispatcher_host *host) {
    host->lock = lock;
    host->unlock = unlock;
    host->sleep = sleep_;
    host->wake = wake;
    if (host->arm || runtime.activations)
        host->interrupt = interrupt;
    host->resized = resized;
    host->resize = resize;
    host->another = runtime.activations ? NULL : another;
    first.thread = system_gettid();
}

static void *run(void *argument) {
    struct kernel_thread *self = argument;
    here()->process.runs_threads = true;
    overflow_attach(self->signals, sizeof self->signals); /* before preempt_attach, which looks at it */
    lock();
    here()->processor = self->processor; /* before there can be signals */
    self->thread = system_gettid();
    processor_time_attach(self->thread);
    unlock();
    signal_mask(self->mask);
    preempt_attach();
    struct dispatcher_exceptions *exceptions = libc_exceptions();
    dispatcher_process(self->processor, libc_error_number(), exceptions ? exceptions : &self->no_exceptions);
}

/* Makes a kernel thread. What this one blocks for a while only, the other does not block for ever. */
static int make_thread(struct kernel_thread *one) {
    uint64_t mask = signal_mask(SIGNALS_ALL); /* neither changes in between */
    one->mask = mask & ~preemption_postponed();
    signal_mask(mask);
    return libc_make_thread(run, one, STACK_SIZE);
}

/* `spare`: no processor, but a kernel thread that can carry one (core/hand_over.c). */
static int start_one(bool spare) {
    if (runtime.activations && dispatcher_processors() >= SA_PROCESSORS_MOST)
        return EAGAIN;
    struct kernel_thread *one = memory_take(sizeof *one);
    size_t size = spare ? 0 : dispatcher_node_size(dispatcher_policy());
    void *node = size ? memory_take(size) : NULL;
    if (one)
        one->processor = memory_take(sizeof *one->processor);
    int error = !one || !one->processor || (size && !node) ? ENOMEM : 0;
    if (!error && !runtime.activations)
        error = make_thread(one);
    if (error) {
        if (one)
            memory_give(one->processor);
        memory_give(one);
        memory_give(node);
        return error;
    }
    if (spare) {
        dispatcher_add_spare(one->processor, one);
        return 0;
    }
    schedulers_widen();
    uint32_t number = dispatcher_processors();
    dispatcher_add_processor(one->processor, one, node); /* it waits for the lock */
    return runtime.activations ? activations_carry(number, one->processor) : 0;
}

static bool another(void) { return dispatcher_processors() < DISPATCHER_PROCESSORS && start_one(true) == 0; }

int processors_start(void) {
    struct stack *stack = stack_take(STACK_SIZE);
    if (!stack) {
        runtime_report("no memory for the first processor");
        return ENOMEM;
    }
    dispatcher_several(stack, (void *)((uintptr_t)stack & ~(uintptr_t)15));
    if (runtime.activations)
        activations_guard((struct processor *)(uintptr_t)dispatcher_processor_at(0));
    else
        dispatcher_enter(); /* until all exist */
    int error = 0;
    for (int i = 1; i < runtime.processors && !error; i++)
        error = start_one(false);
    if (error)
        runtime_report("cannot start %d processors: %s", runtime.processors, text_of_error(error));
    return error;
}

/* ---- Later ------------------------------------------------------------------------------------------------------- */

/* Uses processors that exist, spare ones among them: numbers are given out from below. May run other threads. */
static void use(int count) {
    for (uint32_t i = dispatcher_known(); i < (uint32_t)count && i < dispatcher_processors(); i++)
        schedulers_widen(); /* it was a spare one */
    dispatcher_set_processors((uint32_t)count);
}

/* Within dispatcher_enter. May run other threads, which ask for another number, or make spare ones. */
static int set_processors(int count) {
    int error = 0, before = runtime.processors;
    runtime.processors = count;
    use(count);
    while (runtime.processors == count && dispatcher_active() < (uint32_t)count && !error) {
        if (dispatcher_active() < dispatcher_processors())
            use(count);
        else
            error = start_one(false);
    }
    if (error) {
        runtime.processors = before;
        dispatcher_set_processors((uint32_t)before);
    }
    return error;
}

int catapults_set_processors(int count) {
    bool all = count == CATAPULTS_PROCESSORS_ALL;
    if (all)
        count = usable_now();
    if (count < 1 || count > DISPATCHER_PROCESSORS)
        return EINVAL;
    if (!dispatcher_guard.several)
        return count == 1 ? 0 : ENOTSUP;
    dispatcher_enter();
    cpus.follows = all;
    cpus.set = (struct cpus){0}; /* so that the kernel threads are told */
    int error = set_processors(count);
    dispatcher_leave();
    return error;
}

/* Other CPUs were set for the first kernel thread, perhaps alone. */
static void tell_cpus(pid_t thread) {
    if (thread != system_getpid())
        system_sched_setaffinity(thread, &cpus.set); /* if those have gone meanwhile, all are looked at anew */
}

static void resize(void) {
    if (!cpus.follows || !read_cpus(&cpus.set))
        return;
    processors_each(tell_cpus);
    set_processors(usable(&cpus.set)); /* after an error there are fewer */
}

void processors_each(void (*function)(pid_t thread)) {
    for (uint32_t i = 0; i < dispatcher_processors(); i++) {
        pid_t thread = kernel_thread_of(dispatcher_processor_at(i))->thread;
        if (thread)
            function(thread);
    }
}

int catapults_processors(void) {
    dispatcher_enter();
    int count = runtime.processors;
    dispatcher_leave();
    return count;
}

void processors_restart(void) {
    if (!dispatcher_guard.several)
        return;
    dispatcher_set_guard(NULL, NULL, false);
    atomic_store_explicit(&word, FREE, memory_order_relaxed);
    runtime.processors = 1;
    runtime.several = false;
    cpus.follows = false;
}
