/*
 * How a host raises an event, whatever its handler returns: CATAPULTS_RAISE(event, thread) is NULL, or why the handler
 * stopped. For a handler that returns nothing, generated code defines CATAPULTS_NEVER_STOPS_event as nothing.
 */
#ifndef CATAPULTS_RAISE_H
#define CATAPULTS_RAISE_H

#include "catapults/policy.h"

#define CATAPULTS_RAISE(event, thread) CATAPULTS_RAISED(event, (thread))
#define CATAPULTS_RAISE_ALONE(event) CATAPULTS_RAISED(event, ())

/* 1 if the second parameter, a macro, is defined as nothing. */
#define CATAPULTS_RAISED(event, parameters)                                                                            \
    CATAPULTS_JOIN(CATAPULTS_CALL_,                                                                                    \
                   CATAPULTS_EMPTY(CATAPULTS_NEVER_STOPS_##event))(CATAPULTS_HANDLER_##event parameters)
#define CATAPULTS_JOIN(left, right) CATAPULTS_JOINED(left, right)
#define CATAPULTS_JOINED(left, right) left##right
#define CATAPULTS_EMPTY(word) CATAPULTS_EMPTY_(word)
#define CATAPULTS_EMPTY_(word) CATAPULTS_SECOND(CATAPULTS_PROBE_##word, 0, )
#define CATAPULTS_PROBE_ 0, 1
#define CATAPULTS_SECOND(...) CATAPULTS_SECOND_(__VA_ARGS__)
#define CATAPULTS_SECOND_(first, second, ...) second
#define CATAPULTS_CALL_1(call) ((call), (const struct catapults_stop *)NULL)
#define CATAPULTS_CALL_0(call) (call)

#endif
