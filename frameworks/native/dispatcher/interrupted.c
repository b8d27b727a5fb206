/*
 * What is done when a processor has been interrupted: the policy's timers, `tick`, and what has happened outside. Each
 * may take the processor from the thread that runs.
 */
#include "contexts/tools.h"
#include "core/clock.h"
#include "core/decide.h"
#include "core/frames.h"
#include "core/quantum.h"
#include "dispatcher/instance.h"

enum interruption { NOTHING_RUNS, LATER, NOW };

static enum interruption look(bool may_leave);
static __attribute__((noinline)) void interrupt(void);
static void see_to_what_is_due(void);

/* `inside`: compilers may call functions of libgcc for atomic operations (aarch64). There the dispatcher's code looks
 * like the application's. */
TOOLS_UNSEEN bool dispatcher_interrupted(bool may_leave) {
    enum interruption when = look(may_leave && !processor_here()->inside);
    if (when != NOW)
        return when == LATER;
    struct processor *before = dispatcher_keep_here();
    interrupt();
    dispatcher_keep_as(before);
    return false;
}

bool dispatcher_interrupted_within(void) {
    enum interruption when = look(true);
    if (when == NOW)
        see_to_what_is_due();
    return when == LATER;
}

static TOOLS_UNSEEN enum interruption look(bool may_leave) {
    struct processor *here = processor_here();
    if (here->polling) {
        here->came = true;
        return NOTHING_RUNS;
    }
    if (!may_leave || here->current->hold_depth) {
        here->late = true;
        core_look_next(here);
        return LATER;
    }
    return NOW;
}

/* Only the kernel thread on which threads are kept writes how many they are, without the lock. */
static TOOLS_UNSEEN void keep_on(struct dispatcher_thread *self, struct processor *processor) {
    struct processor *before = self->kept_on;
    if (before == processor)
        return;
    self->kept_on = processor;
    if (before)
        __atomic_store_n(&before->kept, before->kept - 1, __ATOMIC_RELAXED);
    if (processor)
        __atomic_store_n(&processor->kept, processor->kept + 1, __ATOMIC_RELAXED);
}

TOOLS_UNSEEN struct processor *dispatcher_keep_here(void) {
    struct processor *here = processor_here(), *before = here->current->kept_on;
    keep_on(here->current, here);
    if (dispatcher.several)
        dispatcher.picky = true;
    return before;
}

TOOLS_UNSEEN void dispatcher_keep_as(struct processor *before) { keep_on(processor_here()->current, before); }

static void interrupt(void) {
    dispatcher_enter();
    see_to_what_is_due();
    dispatcher_leave();
}

static void see_to_what_is_due(void) {
    struct processor *here = processor_here();
    bool was_armed = here->armed != 0;
    here->armed = 0;
    here->late = false;
    charge_samples(here);
    tell(here, here->turn->scheduler, true);
    int64_t now = dispatcher.host->now();
    bool ticks = now >= here->tick;
    dispatcher_look(now);
    if (ticks)
        core_raise_tick(here, here->turn);
    core_arm(here);
    if (UNLIKELY(dispatcher.several) && ticks && was_armed && here->armed)
        core_interrupt_others(here);
    dispatcher_unblocked();
    if (core_let_who_waits(processor_here(), now))
        dispatcher_entered();
}

void dispatcher_hold(void) {
    processor_here()->current->hold_depth++;
    __asm__ volatile("" ::: "memory");
}

void dispatcher_release(void) {
    __asm__ volatile("" ::: "memory");
    processor_here()->current->hold_depth--;
}

/* The tick comes at any instruction, so it is only counted: see core/clock.c. */
TOOLS_UNSEEN void dispatcher_sampled(struct processor *here, uint32_t ticks) {
    if (here->polling || here->current == &here->idle)
        return;
    __atomic_fetch_add(&here->sampled, ticks, __ATOMIC_RELAXED);
    core_look_next(here);
}
