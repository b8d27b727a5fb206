/*
 * What generated code and an embedded host share: ../../catapults/policy.h where memory is counted in bytes. The host
 * includes the scheduler (frameworks/rabbit/README.md), so there is no description of the policy and no version.
 */
#ifndef CATAPULTS_POLICY_H
#define CATAPULTS_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Handlers are a part of whatever raises their event. SDCC keeps a copy of a `static inline` function in each file. */
#ifdef __SDCC
#define CATAPULTS_INLINE inline
#else
#define CATAPULTS_INLINE static inline
#endif

/*
 * A thread as a policy sees it; what its scheduler keeps for it follows in memory: CATAPULTS_THREAD.
 */
struct catapults_thread {
    void *context;                 /* the host's own */
    struct catapults_thread *next; /* the one that leaves the container after it */
    uint8_t container;             /* the number of the container that holds it; 0 while in none ("in hand") */
};

/* Why a handler ended before its end.  */
struct catapults_stop {
    uint8_t why;
    uint16_t line; /* in the policy's source, from 1 */
};
#define CATAPULTS_STOP_GUARD 0
#define CATAPULTS_STOP_FAIL 1

#endif
