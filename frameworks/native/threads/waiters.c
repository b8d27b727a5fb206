/*
 * Handlers of signals in the middle of a wait. They may wait for other things meanwhile.
 */
#include "threads/waiters.h"

#include <string.h>

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

void waiters_run_handlers(struct catapults_handle *self) {
    /* Those who find it in the list take it for a thread that is not asleep. */
    struct catapults_handle place_holder;
    memset(&place_holder, 0, sizeof place_holder);
    place_holder.member.word = self->member.word; /* what it is given is the thread's */
    const struct wait wait = {.wants = self->wants,
                              .joins = self->joins,
                              .target = self->target,
                              .port = self->port,
                              .message = self->message,
                              .sensitivity = self->sensitivity,
                              .place = self->member.signals.place,
                              .cancellable = self->cancellable,
                              .cancelled = self->cancelled,
                              .timed_out = self->member.dispatched.timed_out};
    bool listed = self->waiting;
    if (listed)
        replace(self, &place_holder);
    /* The thread must not end while others know of its wait. */
    uint8_t disables = (listed || self->message) && !(self->cancel & CANCEL_DISABLED) ? CANCEL_DISABLED : 0;
    self->cancel |= disables;
    self->member.signals.place = SIGNAL_PLACE_ELSEWHERE;
    self->cancellable = self->cancelled = false;
    self->message = NULL; /* nobody is to wake it for that */
    dispatcher_leave();
    signals_run(&self->member);
    dispatcher_enter();
    self->cancel &= (uint8_t)~disables;
    self->wants = wait.wants;
    self->joins = wait.joins;
    self->target = wait.target;
    self->port = wait.port;
    self->message = wait.message;
    self->sensitivity = wait.sensitivity;
    self->member.signals.place = wait.place;
    self->cancellable = wait.cancellable;
    self->cancelled = wait.cancelled;
    self->member.dispatched.timed_out = wait.timed_out;
    if (listed && place_holder.waiting)
        replace(&place_holder, self);
}
