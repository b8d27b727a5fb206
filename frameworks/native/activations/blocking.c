/*
 * Finds what is blocked in the kernel. The standby of each processor looks when it runs, the keeper now and then.
 */
#include <errno.h>
#include <sched.h>

#include "activations/activation.h"
#include "contexts/system.h"

struct sa_processor sa_processors[SA_PROCESSORS_MOST];

enum {
    NAP = 50000,     /* nanoseconds until the next look if nothing can be taken over */
    FRUITLESS = 200, /* looks in a row that found it running: it does so elsewhere */
};

/* Reads a hexadecimal number that ends at `end`; returns where it begins. */
static const char *number_before(const char *end, uint64_t *value) {
    const char *at = end;
    uint64_t place = 1;
    *value = 0;
    for (; at[-1] != 'x' && at[-1] != ' '; at--, place *= 16) {
        char c = at[-1];
        *value += place * (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    return at;
}

/* What the kernel says: "running", or the system call (-1: a page fault) and its arguments, then the stack pointer and
 * the program counter. */
bool watch_blocked(struct lwp *lwp, uint64_t *pc, uint64_t *sp) {
    char line[256];
    line[0] = ' ';
    long length = system_call(SYS_pread64, lwp->file, (long)(line + 1), sizeof line - 1, 0);
    const char *end = line + length; /* the last byte is a newline */
    if (length < 16 || *end != '\n')
        return false;
    const char *at = number_before(end, pc);
    if (at[-1] != 'x')
        return false;
    at = number_before(at - 3, sp);
    return at[-1] == 'x';
}

static void set_place(ucontext_t *place, uint64_t pc, uint64_t sp) {
#if defined(__x86_64__)
    place->uc_mcontext.gregs[REG_RIP] = (greg_t)pc;
    place->uc_mcontext.gregs[REG_RSP] = (greg_t)sp;
#else
    place->uc_mcontext.pc = pc;
    place->uc_mcontext.sp = sp;
#endif
}

/* Set by the linker (preemption/text.ld). */
extern const char __start_catapults_text[] __attribute__((weak, visibility("hidden")));
extern const char __stop_catapults_text[] __attribute__((weak, visibility("hidden")));

static bool ours(uint64_t pc) {
    return pc >= (uintptr_t)__start_catapults_text && pc < (uintptr_t)__stop_catapults_text && !system_is_apart(pc);
}

_Atomic uint64_t sa_places[TRAPS_COUNT];

/* The trap for a place, for good: some context may be in it at any time. 0: there are too many places. */
static uint64_t trap_for(uint64_t pc) {
#if defined(__x86_64__)
    enum { PROBES = 16 };
    uint64_t at = pc * UINT64_C(0x9e3779b97f4a7c15) >> 32;
    for (int i = 0; i < PROBES; i++, at++) {
        uint64_t there = 0;
        if (atomic_compare_exchange_strong(&sa_places[at % TRAPS_COUNT], &there, pc) || there == pc)
            return (uint64_t)(uintptr_t)sa_traps + TRAPS_SIZE * (at % TRAPS_COUNT) + TRAPS_SIGNATURE;
    }
#endif
    (void)pc;
    return 0;
}

/* A blocked activation is led to a trap when it returns to where it is. If it gets away at this moment, the keeper
 * finds it. An armed sequence is left alone, since the kernel may be reading it. So is somebody else's, and the
 * runtime's own code, in which an activation may wait to go on. */
bool watch_catch(struct lwp *lwp, uint64_t *pc, uint64_t *sp) {
    bool alone = LIKELY(activations.traps) && !atomic_exchange(&lwp->arming, true);
    bool armed = lwp->rseq->section != 0;
    bool blocked = watch_blocked(lwp, pc, sp);
    uint64_t trap = LIKELY(blocked && alone && !armed && !ours(*pc)) ? trap_for(*pc) : 0;
    if (LIKELY(trap)) {
        lwp->section.start = *pc;
        lwp->section.abort = trap;
        atomic_thread_fence(memory_order_release);
        lwp->rseq->section = (uint64_t)(uintptr_t)&lwp->section;
    } else if (blocked && !(alone && armed)) {
        struct itimerspec soon = {.it_value = {0, 1}};
        system_timer_settime(lwp->ticks, 0, &soon); /* fails only for an ended thread */
    }
    if (alone)
        atomic_store(&lwp->arming, false);
    return blocked;
}

bool watch_take_over(struct lwp *self, struct sa_processor *processor, struct lwp *lwp, uint32_t word) {
    uint64_t pc, sp;
    if (UNLIKELY(atomic_load(&lwp->word) != word))
        return false;
    struct sa_t told = lwp->sa; /* `lwp` may be on another processor as soon as it is AWAY */
    bool blocked = watch_catch(lwp, &pc, &sp);
    if (UNLIKELY(!blocked || interrupt_in_section(pc))) {
        atomic_store(&processor->doubt, true);
        if (lwp_change(lwp, word, LWP_RUNNING) && interrupt_news(processor))
            interrupt_tell(processor); /* looks again: it may be about to block */
        return false;
    }
    if (UNLIKELY(!lwp_change(lwp, word, LWP_AWAY)))
        return false;
    set_place(&self->blocked, pc, sp); /* the record of `lwp` is its own */
    self->events[1] = told;
    self->events[1].sa_context = &self->blocked;
    atomic_store(&processor->carrier, self);
    atomic_store(&processor->doubt, false);
    return true;
}

/* Each blocked activation may keep a stack, and others are needed to tell of its return. */
static bool too_many_are_away(void) {
    int busy = atomic_load(&activations.lwps) - atomic_load(&activations.spares);
    return busy > SA_BLOCKED_MOST + atomic_load(&activations.processors);
}

enum look watch_look(struct sa_processor *processor, bool certain) {
    struct lwp *lwp = atomic_load(&processor->carrier);
    if (!lwp || !atomic_load(&processor->active))
        return LOOK_NOTHING;
    uint32_t word = atomic_load(&lwp->word);
    if (UNLIKELY(atomic_load(&processor->carrier) != lwp)) /* the word may be that of a stay on another processor */
        return LOOK_RUNS;
    switch ((enum lwp_state)(word & LWP_STATE)) {
    case LWP_RUNNING:
        break;
    case LWP_IDLE:
        return LOOK_NOTHING;
    case LWP_NONE:
    case LWP_STARTING:
    case LWP_SPARE:
    case LWP_TAKEN:
    case LWP_CALLED:
    case LWP_LOST:
    case LWP_AWAY:
    case LWP_PARKED:
    case LWP_RESUMED:
    case LWP_FORGOTTEN:
    case LWP_QUITS:
        return LOOK_RUNS; /* somebody else has the processor soon */
    }
    if (atomic_load(&lwp->hold_depth))
        return LOOK_NOTHING;
    uint64_t pc, sp;
    if (certain && !watch_blocked(lwp, &pc, &sp))
        return LOOK_RUNS;
    if (certain && interrupt_in_section(pc))
        return LOOK_SECTION;
    if (UNLIKELY(too_many_are_away()))
        return LOOK_NO_SPARE;
    struct lwp *spare = lwp_take(processor);
    if (UNLIKELY(!spare)) {
        keeper_rouse();
        return LOOK_NO_SPARE;
    }
    if (UNLIKELY(!lwp_change(lwp, word, LWP_LOST))) {
        lwp_put_back(processor, spare);
        return LOOK_RUNS;
    }
    lwp_call(spare, processor, CALL_BLOCKED, lwp, (word & ~(uint32_t)LWP_STATE) | LWP_LOST);
    return LOOK_TAKEN;
}

void watch_unpark(struct sa_processor *processor) {
    if (UNLIKELY(atomic_load(&processor->parked))) {
        atomic_store(&processor->parked, 0);
        futex_wake(&processor->parked, 1);
    }
    keeper_rouse();
}

static void park(struct sa_processor *processor) {
    atomic_store(&processor->parked, 1);
    if (watch_look(processor, true) == LOOK_NOTHING)
        while (atomic_load(&processor->parked))
            futex_wait(&processor->parked, 1, -1);
    atomic_store(&processor->parked, 0);
}

/* Goes where the carrier runs. A spare goes along. */
static void follow(struct sa_processor *processor) {
    struct lwp *carrier = atomic_load(&processor->carrier), *reserve = atomic_load(&processor->reserve);
    uint32_t cpu = carrier ? carrier->rseq->cpu : UINT32_MAX;
    bool moved = cpu != atomic_load(&processor->cpu) && cpu < 1024;
    if (moved) {
        atomic_store(&processor->cpu, cpu);
        lwp_pin(0, cpu);
    }
    if (!reserve) {
        reserve = lwp_take(processor);
        if (reserve)
            lwp_put_back(processor, reserve);
    }
    /* The spare sleeps, and the kernel would wake it where it slept last. */
    if (reserve && (moved || (reserve->rseq->cpu != atomic_load(&processor->cpu) && !atomic_load(&reserve->pinned))))
        lwp_pin_spare(reserve, atomic_load(&processor->cpu));
}

/* The called spare may have died, or the standby that should call one is not given its CPU. Another spare is called,
 * and whichever comes first makes the upcall. */
void watch_call_again(struct sa_processor *processor) {
    struct lwp *lwp = atomic_load(&processor->carrier);
    uint32_t word = lwp ? atomic_load(&lwp->word) : LWP_NONE;
    if ((word & LWP_STATE) != LWP_LOST || atomic_load(&processor->carrier) != lwp)
        return;
    struct lwp *spare = lwp_take(processor);
    if (spare)
        lwp_call(spare, processor, CALL_BLOCKED, lwp, word);
    else
        keeper_rouse();
}

void *watch_standby(void *argument) {
    struct sa_processor *processor = argument;
    struct sched_param none = {0};
    system_call(SYS_sched_setscheduler, 0, SCHED_IDLE, (long)&none, 0); /* if not, it notices later */
    int fruitless = 0;
    for (;;) {
        struct lwp *carrier = atomic_load(&processor->carrier);
        bool elsewhere = carrier && carrier->rseq->cpu != atomic_load(&processor->cpu);
        switch (elsewhere ? LOOK_RUNS : watch_look(processor, atomic_load(&processor->doubt))) {
        case LOOK_TAKEN: /* back here, the next one seems blocked, or the spare is slow */
            fruitless = 0;
            continue;
        case LOOK_NOTHING:
            fruitless = 0;
            park(processor);
            continue;
        case LOOK_RUNS:
            follow(processor);
            if (++fruitless >= FRUITLESS) {
                fruitless = 0;
                watch_call_again(processor);
                system_nanosleep(NAP); /* it looks again, however that ends */
            }
            break;
        case LOOK_SECTION:
        case LOOK_NO_SPARE:
            system_nanosleep(NAP); /* it looks again, however that ends */
            break;
        }
        system_sched_yield();
    }
    return NULL;
}
