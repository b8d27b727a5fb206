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
#define RAISE(event, ...)                                                                                              \
    CHOOSE((TELL_NOW(), CATAPULTS_COMPILED_IN_HANDLERS.event(&compiled_in_memory, __VA_ARGS__)),                       \
           (tell_now(), dispatcher.handlers->event(dispatcher.instance, __VA_ARGS__)))
#define RAISE_INIT() (tell_now(), dispatcher.handlers->init(dispatcher.instance))
#define QUERY(query) (tell_now(), dispatcher.handlers->query(dispatcher.instance))

/* A policy that does not use `now` pays nothing for it. */
#ifdef CATAPULTS_COMPILED_IN_NOW
#define TELL_NOW() (void)(compiled_in_memory.CATAPULTS_COMPILED_IN_NOW = dispatcher.host->now())
#else
#define TELL_NOW() (void)0
#endif

static const struct catapults_policy *const compiled_in = &catapults_policy;
static void *const compiled_in_instance = &compiled_in_memory;

#endif
