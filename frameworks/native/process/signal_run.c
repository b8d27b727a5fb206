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

void signals_deliver_fault(struct catapults_handle *self, siginfo_t *info, void *context, bool anywhere) {
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
static bool take(struct catapults_handle *self, siginfo_t *info, struct sigaction *action) {
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

enum signals_outcome signals_run(struct catapults_handle *self) {
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

/* What the record of a thread has for one wait, and what handlers may use for others. */
struct wait {
    const catapults_mutex_t *wants;
    uintptr_t joins, target;
    const catapults_port_t *port;
    struct catapults_message *message;
    uint8_t sensitivity, place;
    bool cancellable, cancelled, timed_out;
};

/* Puts `by` into the place of `thread`, which is in a list. */
static void replace(struct catapults_handle *thread, struct catapults_handle *by) {
    struct catapults_waiters *list = thread->waiting;
    by->waiting = list;
    by->wait_next = thread->wait_next;
    by->wait_previous = thread->wait_previous;
    by->woken = thread->woken;
    by->came = thread->came;
    if (by->wait_previous)
        by->wait_previous->wait_next = by;
    else
        list->first = by;
    if (by->wait_next)
        by->wait_next->wait_previous = by;
    else
        list->last = by;
    thread->waiting = NULL;
}

void signals_run_in_wait(struct catapults_handle *self) {
    /* Those who find it in the list take it for a thread that is not asleep. */
    struct catapults_handle place_holder;
    memset(&place_holder, 0, sizeof place_holder);
    place_holder.word = self->word; /* what it is given is the thread's */
    const struct wait wait = {.wants = self->wants,
                              .joins = self->joins,
                              .target = self->target,
                              .port = self->port,
                              .message = self->message,
                              .sensitivity = self->sensitivity,
                              .place = self->signals.place,
                              .cancellable = self->cancellable,
                              .cancelled = self->cancelled,
                              .timed_out = self->dispatched.timed_out};
    bool listed = self->waiting;
    if (listed)
        replace(self, &place_holder);
    /* The thread must not end while others know of its wait. */
    uint8_t disables = (listed || self->message) && !(self->cancel & CANCEL_DISABLED) ? CANCEL_DISABLED : 0;
    self->cancel |= disables;
    self->signals.place = SIGNAL_PLACE_ELSEWHERE;
    self->cancellable = self->cancelled = false;
    self->message = NULL; /* nobody is to wake it for that */
    dispatcher_leave();
    signals_run(self);
    dispatcher_enter();
    self->cancel &= (uint8_t)~disables;
    self->wants = wait.wants;
    self->joins = wait.joins;
    self->target = wait.target;
    self->port = wait.port;
    self->message = wait.message;
    self->sensitivity = wait.sensitivity;
    self->signals.place = wait.place;
    self->cancellable = wait.cancellable;
    self->cancelled = wait.cancelled;
    self->dispatched.timed_out = wait.timed_out;
    if (listed && place_holder.waiting)
        replace(&place_holder, self);
}

/* ---- Leaving a handler ------------------------------------------------------------------------------------------- */

void catapults_sigjmp_begin(catapults_sigjmp_buf buffer, int save_mask) {
    const struct catapults_handle *self = handle_self();
    buffer->saves = save_mask;
    buffer->mask = self->signals.mask;
    buffer->held = self->dispatched.hold_depth;
    buffer->kept_on = self->dispatched.kept_on;
    buffer->stopped = self->signals.stopped;
}

void catapults_siglongjmp(catapults_sigjmp_buf buffer, int value) {
    struct catapults_handle *self = handle_self();
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
