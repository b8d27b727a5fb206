/*
 * How events are raised when no policy is compiled in: through the table of the policy in force.
 */
#ifndef CATAPULTS_RAISE_H
#define CATAPULTS_RAISE_H

#include "dispatcher/state.h"

/* The policy has a handler for the event. */
#define HAS(event) (dispatcher.handlers->event != NULL)

/* Calls it: RAISE(newthread, t). */
#define RAISE(event, ...) (tell(true), dispatcher.handlers->event(dispatcher.instance, __VA_ARGS__))
#define SCHEDULE(stop) (tell(false), dispatcher.handlers->schedule(dispatcher.instance, stop))
#define RAISE_INIT() (tell(true), dispatcher.handlers->init(dispatcher.instance))
#define QUERY(query) (tell(true), dispatcher.handlers->query(dispatcher.instance))

static const struct catapults_policy *const compiled_in = NULL;
static void *const compiled_in_instance = NULL;

#endif
