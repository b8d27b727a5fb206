/*
 * What the kernel's handler does (preemption/arrivals.c).
 */
#include <stdlib.h>

#include "contexts/tools.h"
#include "preemption/preemption.h"
#include "threads/runtime.h"
#include "threads/signals.h"

static TOOLS_UNSEEN void arrived(void) {
    signals.arrived = true;
    dispatcher_signalled();
}

TOOLS_UNSEEN bool signals_wait_for_code(void) { return signals.arrived || signals.late; }

static __attribute__((noinline)) bool serve(bool held) {
    if (held)
        dispatcher_hold();
    dispatcher_enter();
    signals_take_up();
    dispatcher_leave();
    signals_check(handle_self());
    if (held)
        dispatcher_release();
    return signals_wait_for_code();
}

TOOLS_UNSEEN bool signals_interrupted(bool held) {
    const struct processor *here = processor_here();
    return here->polling || signals.off || here->current->held ? true : serve(held);
}

static __attribute__((noinline)) void fault(siginfo_t *info, void *context, bool held) {
    struct catapults_handle *self = handle_self();
    int number = info->si_signo;
    const struct sigaction *action = &signals.actions[number];
    bool handled = (action->sa_flags & SA_SIGINFO) || (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN);
    if (!handled || (self->signals.mask & signal_bit(number))) {
        signal(number, SIG_DFL); /* it comes again as soon as this returns */
        if (number == SIGTRAP || number == SIGSYS)
            raise(number);
        return;
    }
    if (held)
        dispatcher_hold();
    signals_deliver(self, info, context);
    if (held)
        dispatcher_release();
}

static TOOLS_UNSEEN void faulted(siginfo_t *info, void *context, bool held) { fault(info, context, held); }

void signals_catch_start(void) {
    static const struct preemption_catcher catcher = {
        .arrived = arrived, .interrupted = signals_interrupted, .fault = faulted};
    preemption_catch_start(&catcher);
}
