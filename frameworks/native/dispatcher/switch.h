/*
 * What a decision leads to: another thread's context goes on here. Nothing here raises an event.
 *
 * Only dispatcher.c includes this.
 */
#ifndef CATAPULTS_SWITCH_H
#define CATAPULTS_SWITCH_H

#include "dispatcher/instance.h"
#include "dispatcher/trace.h"

/* Exchanges what C++ keeps for the kernel thread for that of `next`, and what else the host exchanges
 * (dispatcher_host). `self` NULL: it has ended. */
static __attribute__((noinline)) void change_exceptions(struct processor *here, struct dispatcher_thread *self,
                                                        struct dispatcher_thread *next) {
    const struct dispatcher_exceptions none = {0};
    bool exchanges = dispatcher.host->exchange != NULL;
    if (self) {
        self->exceptions = *here->exceptions;
        self->excepted = self->exceptions.caught || self->exceptions.uncaught || exchanges;
    }
    *here->exceptions = next->excepted ? next->exceptions : none;
    next->excepted = false;
    if (exchanges)
        dispatcher.host->exchange(self == &here->idle ? NULL : self, next == &here->idle ? NULL : next);
}

/* Whether there is any of that. */
static inline bool are_exceptions(const struct processor *here, const struct dispatcher_thread *next) {
    return UNLIKELY(here->exceptions->caught != NULL) || UNLIKELY(here->exceptions->uncaught != 0) ||
           UNLIKELY(next->excepted);
}

/* `next` runs: what C keeps for the kernel thread is that thread's own now. */
static inline __attribute__((always_inline)) void arrive(struct processor *here, struct dispatcher_thread *next) {
    *here->error_number = next->error_number;
    here->current = next;
}

static inline __attribute__((always_inline)) int change_context(struct processor *here, struct dispatcher_thread *self,
                                                                struct dispatcher_thread *next, bool by_call) {
    self->error_number = *here->error_number;
    arrive(here, next);
    return by_call ? context_switch_by_call(&self->context, &next->context)
                   : context_switch(&self->context, &next->context);
}

static __attribute__((noinline)) int change_all(struct dispatcher_thread *next, bool by_call) {
    struct processor *here = processor_here();
    struct dispatcher_thread *self = here->current;
    change_exceptions(here, self, next);
    return change_context(here, self, next, by_call);
}

/*
 * Goes on with `next`; returns 0 when `self` goes on. `by_call`: something is left to be done then, even if only to
 * return to a calling function. Without it, a yield ends in the switch itself and goes on directly in its caller: a
 * processor cannot foresee a return to another thread.
 */
static inline __attribute__((always_inline)) int change(struct processor *here, struct dispatcher_thread *self,
                                                        struct dispatcher_thread *next, bool by_call) {
    if (next == self)
        return 0;
    if (are_exceptions(here, next))
        return change_all(next, by_call);
    return change_context(here, self, next, by_call);
}

/* The same for a thread that has ended. */
static inline __attribute__((always_inline)) void
change_for_good(struct processor *here, struct dispatcher_thread *self, struct dispatcher_thread *next) {
    if (are_exceptions(here, next))
        change_exceptions(here, NULL, next);
    arrive(here, next);
    context_leave(&self->context, &next->context);
}

/* `next` was decided: it goes on, once nothing is due before it. */
static inline __attribute__((always_inline)) void run_as(struct processor *here, struct dispatcher_thread *self,
                                                         struct dispatcher_thread *next, bool by_call) {
    if (UNLIKELY(here->due))
        next = dispatcher_attend(here, next);
    if (UNLIKELY(dispatcher_trace != NULL))
        dispatcher_record_dispatch(next);
    if (!by_call && next == self && UNLIKELY(dispatcher.signalled))
        dispatcher.host->undisturbed();
    else
        change(here, self, next, by_call);
}

static inline __attribute__((always_inline)) void run(struct processor *here, struct dispatcher_thread *self,
                                                      struct dispatcher_thread *next) {
    run_as(here, self, next, false);
}

static inline __attribute__((always_inline)) void run_by_call(struct processor *here, struct dispatcher_thread *self,
                                                              struct dispatcher_thread *next) {
    run_as(here, self, next, true);
}

static inline void leave_for(struct processor *here, struct dispatcher_thread *self, struct dispatcher_thread *next) {
    if (UNLIKELY(here->due))
        next = dispatcher_attend(here, next);
    if (UNLIKELY(dispatcher_trace != NULL))
        dispatcher_record_dispatch(next);
    change_for_good(here, self, next);
}

#endif
