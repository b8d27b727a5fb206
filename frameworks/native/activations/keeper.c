/*
 * The keeper: a kernel thread that is on no processor. It makes spares ahead of need, so that a processor is taken over
 * without allocation. It creates processors, and has them leave. It looks where a standby could not because the CPU had
 * other work.
 */
#include <errno.h>

#include "activations/activation.h"
#include "contexts/kernel_clock.h"
#include "contexts/libc.h"
#include "contexts/system.h"

enum {
    ROUND = 10000000, /* nanoseconds from look to look, while any processor is busy */
    LOOK = 100000000, /* from look to look at the CPUs allowed, meanwhile */
    CAUGHT_MOST = 16, /* activations looked at in a round, of those that are away */
    MOMENT = 100000,  /* nanoseconds between looks at what is starting */
    STACK = 256 << 10 /* of the kernel threads' own stacks */
};

/* Those unpinned before were allowed all CPUs of that time, and the list has changed. */
static void spread_again(void) {
    int used = atomic_load(&activations.lwps);
    for (int i = 0; i < used; i++)
        if (lwp_state(&sa_lwps[i]) > LWP_STARTING)
            lwp_unpin(&sa_lwps[i]);
}

/* The CPUs that the first kernel thread may use. Another process that changes them names the process by its number, and
 * may mean that thread alone. The layer leaves its mask as it is. */
static int read_cpus(void) {
    struct cpus cpus;
    long length = system_sched_getaffinity(system_getpid(), &cpus);
    int count = cpus_count(&cpus);
    bool changed = false;
    for (int i = 0; i < CPUS_WORDS; i++)
        changed |= atomic_exchange(&activations.cpus[i], cpus.words[i]) != cpus.words[i];
    if (changed && atomic_load(&activations.enabled))
        spread_again();
    return length > 0 && count > 0 ? count : 1;
}

/* ---- Kernel threads ---------------------------------------------------------------------------------------------- */

static void *spare(void *argument) {
    struct lwp *self = argument;
    self->base = (char *)__builtin_frame_address(0) - 512;
    if (lwp_adopt(self) != 0) {
        atomic_store(&self->word, LWP_NONE);
        return NULL;
    }
    sa_on_stack(self->base, lwp_wait, NULL);
}

/* Only kernel threads that have processors take signals. */
static int make_thread(void *(*start)(void *), void *argument) { return libc_make_thread(start, argument, STACK); }

static int make_spare(void) {
    struct lwp *slot = NULL;
    int used = atomic_load(&activations.lwps);
    for (int i = 1; i < used && !slot; i++)
        if (lwp_state(&sa_lwps[i]) == LWP_NONE)
            slot = &sa_lwps[i];
    if (!slot) {
        if (used == SA_ACTIVATIONS_MOST)
            return EAGAIN;
        slot = &sa_lwps[used];
    }
    atomic_store(&slot->word, LWP_STARTING);
    if (slot == &sa_lwps[used])
        atomic_store(&activations.lwps, used + 1);
    int error = make_thread(spare, slot);
    if (error)
        atomic_store(&slot->word, LWP_NONE);
    return error;
}

static int count_spares(bool starting) {
    int count = 0, used = atomic_load(&activations.lwps);
    for (int i = 1; i < used; i++) {
        enum lwp_state state = lwp_state(&sa_lwps[i]);
        count += state == LWP_SPARE || (starting && state == LWP_STARTING);
    }
    return count;
}

/* As many as may be needed before more are made: one that takes over and one that interrupts for each processor. */
static int wanted_spares(void) { return 2 * atomic_load(&activations.processors) + 2; }

static int make_spares(void) {
    int error = 0;
    for (int missing = wanted_spares() - count_spares(true); missing > 0 && !error; missing--)
        error = make_spare();
    return error;
}

/* ---- Processors -------------------------------------------------------------------------------------------------- */

static int add_processor(int number) {
    struct sa_processor *processor = &sa_processors[number];
    processor->number = number;
    if (!processor->watched) {
        int error = alarms_add(processor);
        if (error)
            return error;
        if ((error = make_thread(watch_standby, processor))) {
            alarms_remove(processor);
            return error;
        }
        processor->watched = true;
    }
    return 0;
}

static bool leaves(const struct sa_processor *processor) { return atomic_load(&processor->wanted) & WANTED_LEAVES; }

static int wanted_processors(int cpus) {
    int wanted = atomic_load(&activations.concurrency);
    return wanted < cpus || activations.fixed ? wanted : cpus;
}

/* Adds or removes processors, as asked for and allowed, one step each time. */
static void adjust(int cpus) {
    int wanted = wanted_processors(cpus), have = atomic_load(&activations.processors);
    struct sa_processor *last = &sa_processors[have - 1];
    if (have > 1 && !atomic_load(&last->active) && !atomic_load(&last->carrier)) {
        atomic_store(&activations.processors, --have); /* it has left */
        last = &sa_processors[have - 1];
    }
    if (wanted < have && !leaves(last)) {
        atomic_fetch_or(&last->wanted, WANTED_LEAVES);
    } else if (wanted > have) {
        struct sa_processor *processor = &sa_processors[have];
        struct lwp *called = add_processor(have) == 0 ? lwp_take(processor) : NULL;
        if (!called)
            return;
        atomic_store(&processor->carrier, called);
        atomic_store(&processor->active, true);
        atomic_store(&activations.processors, have + 1);
        watch_unpark(processor);
        lwp_call(called, processor, CALL_NEWPROC, NULL, 0);
        return;
    }
    if (leaves(last))
        interrupt_tell(last);
}

static bool settled(int cpus) { return atomic_load(&activations.processors) == wanted_processors(cpus); }

/* ---- Looking twice ----------------------------------------------------------------------------------------------- */

static bool busy(struct sa_processor *processor) {
    struct lwp *carrier = atomic_load(&processor->carrier);
    return carrier && lwp_state(carrier) != LWP_IDLE && !atomic_load(&processor->parked);
}

/* Looks for those that are said to be away, and were not caught. */
static bool catch_some(void) {
    static int next;
    bool any = false;
    int used = atomic_load(&activations.lwps), looked = 0;
    for (int i = 0; i < used && looked < CAUGHT_MOST; i++) {
        struct lwp *lwp = &sa_lwps[next++ % used];
        uint64_t pc, sp;
        if (lwp_state(lwp) != LWP_AWAY)
            continue;
        looked++;
        /* It may have got away, and blocked somewhere else. */
        if (!watch_catch(lwp, &pc, &sp)) {
            interrupt_send(lwp);
            any = true;
        }
    }
    return any;
}

/* The standby looks and calls. Other work of the CPU may keep it from running in between. */
static void look(struct sa_processor *processor) {
    struct lwp *carrier = atomic_load(&processor->carrier);
    uint32_t word = carrier ? atomic_load(&carrier->word) : LWP_NONE;
    if ((word & LWP_STATE) != LWP_LOST) {
        processor->lost = 0;
        watch_look(processor, true);
    } else if (processor->lost == word) {
        watch_call_again(processor);
    } else {
        processor->lost = word;
    }
}

static bool look_round(void) {
    bool any = false;
    int processors = atomic_load(&activations.processors);
    for (int i = 0; i < processors; i++) {
        struct sa_processor *processor = &sa_processors[i];
        if (!busy(processor))
            continue;
        any = true;
        look(processor);
    }
    return catch_some() || any;
}

static void *keeper(void *unused) {
    (void)unused;
    int cpus = read_cpus();
    int64_t looked = clock_now(); /* when it looked at the CPUs allowed */
    for (;;) {
        uint32_t before = atomic_load(&activations.keeper);
        if (clock_now() - looked >= LOOK) {
            looked = clock_now();
            cpus = read_cpus();
        }
        bool made = make_spares() == 0, any = false;
        if (atomic_load(&activations.enabled)) {
            adjust(cpus);
            any = look_round();
        }
        atomic_store(&activations.keeper_sleeps, !any && made && settled(cpus));
        bool sleeps = atomic_load(&activations.keeper_sleeps) && !look_round();
        futex_wait(&activations.keeper, before, sleeps ? -1 : ROUND);
        atomic_store(&activations.keeper_sleeps, false);
    }
    return NULL;
}

void keeper_rouse(void) {
    if (UNLIKELY(atomic_load(&activations.keeper_sleeps)))
        keeper_wake();
}

void keeper_wake(void) {
    atomic_store(&activations.keeper_sleeps, false);
    atomic_fetch_add(&activations.keeper, 1);
    futex_wake(&activations.keeper, 1);
}

/* ---- Starting ---------------------------------------------------------------------------------------------------- */

/* Whether the kernel leads a return from a system call to the handler of a sequence. Linux 6.19 stopped doing so. */
static void *probe(void *probed) {
#if defined(__x86_64__)
    struct lwp *self = &sa_lwps[SA_ACTIVATIONS_MOST - 1];
    extern const char sa_probe_return[], sa_probe_trap[];
    if (lwp_adopt(self) == 0) {
        struct timespec moment = {0, 1};
        self->section.start = (uint64_t)(uintptr_t)sa_probe_return;
        self->section.abort = (uint64_t)(uintptr_t)sa_probe_trap;
        self->rseq->section = (uint64_t)(uintptr_t)&self->section;
        activations.traps = sa_probe(&moment) == 1;
        self->rseq->section = 0;
    }
    lwp_dismiss(self);
#endif
    atomic_store((_Atomic uint32_t *)probed, 1);
    futex_wake(probed, 1);
    return NULL;
}

int keeper_start(void) {
    static _Atomic uint32_t probed;
    atomic_store(&probed, 0);
    int error = make_thread(probe, &probed);
    if (error)
        return error;
    while (!atomic_load(&probed))
        futex_wait(&probed, 0, -1);
    read_cpus();
    if ((!alarms_begun() && (error = make_thread(alarms_ring, NULL))) || (error = make_spares()))
        return error;
    while (!alarms_begun() || count_spares(false) == 0) {
        if (count_spares(true) == 0)
            return EAGAIN;
        system_nanosleep(MOMENT); /* it looks again, however that ends */
    }
    if ((error = add_processor(0)))
        return error;
    return make_thread(keeper, NULL);
}
