/*
 * How events are raised when a policy is compiled in: its table is a constant here, so its handlers are called directly
 * and inlined. The policy can still be another one: one that was loaded instead, or the built-in FIFO after it had to
 * go.
 */
#ifndef CATAPULTS_RAISE_H
#define CATAPULTS_RAISE_H

#include "dispatcher/state.h"

static CATAPULTS_COMPILED_IN_INSTANCE compiled_in_memory __attribute__((aligned(16)));

#define CHOOSE(scheduler, here, there) (LIKELY((scheduler)->inlined) ? (here) : (there))

#define HAS(scheduler, event)                                                                                          \
    CHOOSE(scheduler, CATAPULTS_COMPILED_IN_HANDLERS.event != NULL, (scheduler)->handlers->event != NULL)
/* A policy that does not look at the clock pays nothing for it: it reads neither `now` nor the import `consumed`. */
#if defined(CATAPULTS_COMPILED_IN_NOW) || defined(CATAPULTS_COMPILED_IN_THREADIMPORT_consumed)
#define TELL(scheduler, running) tell(scheduler, running)
#else
#define TELL(scheduler, running) (void)0
#endif

#define RAISE(scheduler, event, ...)                                                                                   \
    CHOOSE(scheduler, (TELL(scheduler, true), CATAPULTS_COMPILED_IN_HANDLERS.event(&compiled_in_memory, __VA_ARGS__)), \
           (tell(scheduler, true), (scheduler)->handlers->event((scheduler)->self, __VA_ARGS__)))
#define SCHEDULE(scheduler, stop)                                                                                      \
    CHOOSE(scheduler, (TELL(scheduler, false), CATAPULTS_COMPILED_IN_HANDLERS.schedule(&compiled_in_memory, stop)),    \
           (tell(scheduler, false), (scheduler)->handlers->schedule((scheduler)->self, stop)))
#define ADOPT(scheduler, t)                                                                                            \
    CHOOSE(scheduler, catapults_policy.adopt(&compiled_in_memory, t),                                                  \
           (scheduler)->policy->adopt((scheduler)->instance, t))
#define RAISE_INIT(scheduler) (tell(scheduler, true), (scheduler)->handlers->init((scheduler)->self))
#define QUERY(scheduler, query) (tell(scheduler, true), (scheduler)->handlers->query((scheduler)->self))

#endif
