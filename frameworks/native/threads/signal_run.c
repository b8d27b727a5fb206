/*
 * Running handlers: in the context of the thread, outside of the dispatcher.
 */
#include <errno.h>
#include <string.h>

#include "threads/cancel.h"
#include "threads/signals.h"

/* Not to be optimized together with their callers: the kernel thread may change under them. */
__attribute__((noipa)) static int error_number(void) { return errno; }
__attribute__((noipa)) static void set_error_number(int error) { errno = error; }

enum signals_outcome signals_deliver(struct catapults_handle *self, siginfo_t *info, void *context) {
    int number = info->si_signo;
    const struct sigaction action = signals.actions[number];
    bool plain = !(action.sa_flags & SA_SIGINFO);
    if (plain && (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN)) {
        if (action.sa_handler == SIG_DFL)
            signals_default(number);
        return SIGNALS_RESTART;
    }
    if (action.sa_flags & SA_RESETHAND) {
        dispatcher_enter();
        signals_set_action(number, &(struct sigaction){.sa_handler = SIG_DFL});
        dispatcher_leave();
    }
    uint64_t mask = self->signals.mask;
    self->signals.mask |= signals_of(&action.sa_mask) | (action.sa_flags & SA_NODEFER ? 0 : signal_bit(number));
    int error = error_number();
    if (plain)
        action.sa_handler(number);
    else
        action.sa_sigaction(number, info, context);
    set_error_number(error);
    self->signals.mask = mask;
    return action.sa_flags & SA_RESTART ? SIGNALS_RESTART : SIGNALS_EINTR;
}

enum signals_outcome signals_run(struct catapults_handle *self) {
    enum signals_outcome outcome = SIGNALS_NONE;
    for (siginfo_t info;;) {
        dispatcher_enter();
        self->signals.interrupted = false;
        bool any = signals_take(self, ~self->signals.mask, &info);
        self->signals.due = any;
        if (!any && signals.late == self)
            signals.late = NULL;
        dispatcher_leave();
        if (!any)
            return outcome;
        enum signals_outcome one = signals_deliver(self, &info, NULL);
        if (one > outcome)
            outcome = one;
    }
}

/* What a thread has on its record for the sake of one wait, which handlers may use for others. */
struct wait {
    const catapults_mutex_t *wants;
    uintptr_t joins, target;
    const catapults_port_t *port;
    struct catapults_message *message;
    uint8_t sensitivity, place;
    bool passed_over, cancellable, cancelled;
};

/* Puts `by` into the place of `thread`, which is in a list. */
static void replace(struct catapults_handle *thread, struct catapults_handle *by) {
    struct catapults_waiters *list = thread->waiting;
    by->waiting = list;
    by->wait_next = thread->wait_next;
    by->wait_previous = thread->wait_previous;
    by->woken = thread->woken;
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
    /* Whoever finds it there takes it for a thread that is not asleep. */
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
                              .passed_over = self->passed_over,
                              .cancellable = self->cancellable,
                              .cancelled = self->cancelled};
    bool listed = self->waiting;
    if (listed)
        replace(self, &place_holder);
    /* It cannot end while others know of its wait. */
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
    self->passed_over = wait.passed_over;
    self->cancellable = wait.cancellable;
    self->cancelled = wait.cancelled;
    if (listed && place_holder.waiting)
        replace(&place_holder, self);
}

/* ---- Leaving a handler ------------------------------------------------------------------------------------------- */

void catapults_sigjmp_begin(catapults_sigjmp_buf buffer, int save_mask) {
    const struct catapults_handle *self = handle_self();
    buffer->saves = save_mask;
    buffer->mask = self->signals.mask;
    buffer->held = self->dispatched.held;
}

void catapults_siglongjmp(catapults_sigjmp_buf buffer, int value) {
    struct catapults_handle *self = handle_self();
    self->dispatched.held = buffer->held;
    if (buffer->saves) {
        sigset_t mask;
        signals_to(&mask, buffer->mask);
        catapults_sigmask(SIG_SETMASK, &mask, NULL);
    }
    siglongjmp(buffer->registers, value ? value : 1);
}
