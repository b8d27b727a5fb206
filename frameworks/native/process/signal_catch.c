/*
 * What the kernel's handler does (preemption/arrivals.c).
 */
#include "contexts/system.h"
#include "contexts/tools.h"
#include "preemption/preemption.h"
#include "process/kernel_threads.h"
#include "process/runtime.h"
#include "process/signals.h"

TOOLS_UNSEEN void signals_arrived(void) {
    __atomic_store_n(&signals.arrived, true, __ATOMIC_SEQ_CST);
    dispatcher_signalled();
}

/* For several processors. */
static TOOLS_UNSEEN bool who_runs_is_due(void) {
    const struct processor *here = processor_here();
    if (here->current == &here->idle)
        return false;
    const struct member *self = member_of(here->current);
    return self->signals.due && self->signals.place == SIGNAL_PLACE_ELSEWHERE;
}

TOOLS_UNSEEN bool signals_wait_for_code(void) {
    return signals.arrived || signals.late || (dispatcher_guard.several && who_runs_is_due());
}

TOOLS_UNSEEN bool signals_postpone(void) {
    /* Each at most once: one that cannot look either comes here itself. */
    if (dispatcher_guard.several && signals.arrived &&
        __atomic_fetch_add(&signals.alerted, 1, __ATOMIC_RELAXED) < dispatcher_processors())
        processors_alert();
    return true;
}

/* In code that may depend on its kernel thread, until it goes on. */
static __attribute__((noinline)) bool serve(bool held) {
    struct processor *kept_on = dispatcher_keep_here();
    if (held)
        dispatcher_hold();
    dispatcher_enter();
    signals_take_up();
    dispatcher_leave();
    signals_check(member_self());
    if (held)
        dispatcher_release();
    dispatcher_keep_as(kept_on);
    return signals_wait_for_code();
}

TOOLS_UNSEEN bool signals_interrupted(bool held) {
    const struct processor *here = processor_here();
    bool busy = here->polling || here->inside || here->current == &here->idle || here->current->hold_depth;
    return busy || signals.off ? signals_postpone() : serve(held);
}

static __attribute__((noinline)) void fault(siginfo_t *info, void *context, bool held) {
    struct member *self = member_self();
    int number = info->si_signo;
    const struct sigaction action = signals_action_of(number);
    bool handled = (action.sa_flags & SA_SIGINFO) || (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
    if (!handled || (signals_mask(self) & signal_bit(number))) {
        system_signal(number, SIG_DFL); /* it comes again as soon as this returns */
        if (number == SIGTRAP || number == SIGSYS)
            system_raise(number); /* cannot fail: there is such a signal */
        return;
    }
    struct processor *kept_on = dispatcher_keep_here();
    if (held)
        dispatcher_hold();
    signals_deliver_fault(self, info, context, held);
    if (held)
        dispatcher_release();
    dispatcher_keep_as(kept_on);
}

static TOOLS_UNSEEN void faulted(siginfo_t *info, void *context, bool held) { fault(info, context, held); }

void signals_catch_start(void) {
    static const struct preemption_catcher catcher = {.arrived = signals_arrived,
                                                      .postponed = signals_postpone,
                                                      .interrupted = signals_interrupted,
                                                      .fault = faulted};
    preemption_catch_start(&catcher);
}
