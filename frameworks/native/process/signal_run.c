/*
 * Running handlers: in the context of the thread, outside of the dispatcher.
 */
#include <string.h>

#include "contexts/libc.h"
#include "process/activations.h"
#include "process/runtime.h"
#include "process/signals.h"

struct sigaction signals_action_of(int number) {
    struct sigaction action;
    uint64_t words[(sizeof action + 7) / 8];
    const uint64_t *from = (const uint64_t *)&signals.actions[number];
    uint32_t before, tries = 0;
    do {
        before = __atomic_load_n(&signals.writing, __ATOMIC_ACQUIRE);
        for (unsigned i = 0; i < sizeof action / 8; i++)
            words[i] = __atomic_load_n(&from[i], __ATOMIC_ACQUIRE);
    } while ((before % 2 || before != __atomic_load_n(&signals.writing, __ATOMIC_RELAXED)) && ++tries < 1000000);
    memcpy(&action, words, sizeof action);
    if (__atomic_load_n(&signals.reset, __ATOMIC_RELAXED) & signal_bit(number))
        action = (struct sigaction){.sa_handler = SIG_DFL};
    return action;
}
_Static_assert(sizeof(struct sigaction) % 8 == 0, "signals_action_of");

/* What the thread also blocks while the handler runs. */
static uint64_t blocks(const struct sigaction *action, int number) {
    return signals_of(&action->sa_mask) | (action->sa_flags & SA_NODEFER ? 0 : signal_bit(number));
}

static void call(const struct sigaction *action, siginfo_t *info, void *context) {
    int error = *libc_error_number();
    if (action->sa_flags & SA_SIGINFO)
        action->sa_sigaction(info->si_signo, info, context);
    else
        action->sa_handler(info->si_signo);
    *libc_error_number() = error;
}

void signals_deliver_fault(struct member *self, siginfo_t *info, void *context, bool anywhere) {
    int number = info->si_signo;
    const struct sigaction action = signals_action_of(number);
    if (action.sa_flags & SA_RESETHAND) {
        if (anywhere && dispatcher_guard.several) { /* it may be within what the lock is for */
            __atomic_fetch_or(&signals.reset, signal_bit(number), __ATOMIC_RELAXED);
        } else {
            dispatcher_enter();
            signals_set_action(number, &(struct sigaction){.sa_handler = SIG_DFL});
            dispatcher_leave();
        }
    }
    uint64_t mask = signals_mask(self);
    signals_set_mask(self, mask | blocks(&action, number));
    call(&action, info, context);
    signals_set_mask(self, mask);
    if (anywhere)
        return;
    signals_set_due(self, true); /* for those that came meanwhile */
    signals_run(self);
}

/* Takes the first signal that pends and is not blocked, with its action, and blocks what its handler blocks. False:
 * none. */
static bool take(struct member *self, siginfo_t *info, struct sigaction *action) {
    dispatcher_enter();
    self->signals.interrupted = false;
    bool any = signals_take(self, ~self->signals.mask, info);
    signals_set_due(self, any);
    if (!any && signals.late == self)
        signals.late = NULL;
    if (any) {
        *action = signals_action_of(info->si_signo);
        bool handled =
            (action->sa_flags & SA_SIGINFO) || (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN);
        if (handled) {
            uint64_t more = blocks(action, info->si_signo);
            if (action->sa_flags & SA_RESETHAND)
                signals_set_action(info->si_signo, &(struct sigaction){.sa_handler = SIG_DFL});
            signals_set_mask(self, self->signals.mask | more);
            if (signals.pending & more) {
                signals_retarget();
                dispatcher_unblocked();
            }
        }
    }
    dispatcher_leave();
    return any;
}

enum signals_outcome signals_run(struct member *self) {
    enum signals_outcome outcome = SIGNALS_NONE;
    struct sigaction action;
    uint64_t mask = signals_mask(self);
    for (siginfo_t info; take(self, &info, &action);) {
        enum signals_outcome one = SIGNALS_RESTART;
        if (action.sa_flags & SA_SIGINFO || (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN)) {
            call(&action, &info, NULL);
            signals_set_mask(self, mask);
            one = action.sa_flags & SA_RESTART ? SIGNALS_RESTART : SIGNALS_EINTR;
        } else if (action.sa_handler == SIG_DFL) {
            signals_default(info.si_signo);
        }
        if (one > outcome)
            outcome = one;
    }
    return outcome;
}

/* ---- Leaving a handler ------------------------------------------------------------------------------------------- */

void catapults_sigjmp_begin(catapults_sigjmp_buf buffer, int save_mask) {
    const struct member *self = member_self();
    buffer->saves = save_mask;
    buffer->mask = self->signals.mask;
    buffer->held = self->dispatched.hold_depth;
    buffer->kept_on = self->dispatched.kept_on;
    buffer->stopped = self->signals.stopped;
}

void catapults_siglongjmp(catapults_sigjmp_buf buffer, int value) {
    struct member *self = member_self();
    self->dispatched.hold_depth = buffer->held;
    dispatcher_keep_as(buffer->kept_on);
    if (self->signals.stopped != buffer->stopped)
        activations_forget(self, buffer->stopped);
    if (buffer->saves) {
        sigset_t mask;
        signals_to(&mask, buffer->mask);
        catapults_sigmask(SIG_SETMASK, &mask, NULL);
    }
    siglongjmp(buffer->registers, value ? value : 1);
}
