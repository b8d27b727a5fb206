/*
 * How events are raised when a policy is compiled in: its table is a constant here, so its handlers are called directly
 * and inlined. The policy can still be another one: one that was loaded instead, or the built-in FIFO after it had to
 * go.
 */
#ifndef CATAPULTS_RAISE_H
#define CATAPULTS_RAISE_H

#include "dispatcher/state.h"

static CATAPULTS_COMPILED_IN_INSTANCE compiled_in_memory __attribute__((aligned(16)));

#define CHOOSE(here, there) (LIKELY(dispatcher.inlined) ? (here) : (there))

#define HAS(event) CHOOSE(CATAPULTS_COMPILED_IN_HANDLERS.event != NULL, dispatcher.handlers->event != NULL)
/* A policy that does not look at the clock pays nothing for it: it reads neither `now` nor the import `consumed`. */
#if defined(CATAPULTS_COMPILED_IN_NOW) || defined(CATAPULTS_COMPILED_IN_THREADIMPORT_consumed)
#define TELL(running) tell(running)
#else
#define TELL(running) (void)0
#endif

#define RAISE(event, ...)                                                                                              \
    CHOOSE((TELL(true), CATAPULTS_COMPILED_IN_HANDLERS.event(&compiled_in_memory, __VA_ARGS__)),                       \
           (tell(true), dispatcher.handlers->event(dispatcher.instance, __VA_ARGS__)))
#define SCHEDULE(stop)                                                                                                 \
    CHOOSE((TELL(false), CATAPULTS_COMPILED_IN_HANDLERS.schedule(&compiled_in_memory, stop)),                          \
           (tell(false), dispatcher.handlers->schedule(dispatcher.instance, stop)))
#define RAISE_INIT() (tell(true), dispatcher.handlers->init(dispatcher.instance))
#define QUERY(query) (tell(true), dispatcher.handlers->query(dispatcher.instance))

static const struct catapults_policy *const compiled_in = &catapults_policy;
static void *const compiled_in_instance = &compiled_in_memory;

#endif
