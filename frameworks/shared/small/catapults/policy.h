/*
 * What generated code and an embedded host share: ../../catapults/policy.h for hosts where memory is counted in bytes.
 * The host includes the generated file (see compiler/src/emit/c), so there is no description of the policy and no
 * version.
 */
#ifndef CATAPULTS_POLICY_H
#define CATAPULTS_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Handlers are inlined where their event is raised. SDCC keeps a copy of a `static inline` function in each file. */
#ifdef __SDCC
#define CATAPULTS_INLINE inline
#else
#define CATAPULTS_INLINE static inline
#endif

/* What the host itself keeps of a thread, unless its header has said so. */
#ifndef CATAPULTS_HOST_MEMBERS
#define CATAPULTS_HOST_MEMBERS void *context;
#endif

/*
 * Functions of the policy that handlers in several files of the host call. A host whose linker takes whole files has
 * each in a file of its own, which defines CATAPULTS_SEPARATE, and CATAPULTS_DEFINE_ with the function's name.
 */
#ifdef CATAPULTS_SEPARATE
#define CATAPULTS_SHARED
#else
#define CATAPULTS_SHARED static inline
#endif

/*
 * A thread as a policy sees it; its attributes and imported variables follow it in memory: CATAPULTS_THREAD.
 */
struct catapults_thread {
    struct catapults_thread *next; /* the one that leaves the container after it */
    CATAPULTS_HOST_MEMBERS
    struct catapults_thread *walk; /* the next that the current foreach visits */
    uint8_t container;             /* the number of the container that holds it; 0 while in none ("in hand") */
};

/* Why a handler ended early. Line 0 stands for the framework's own default handler. */
struct catapults_stop {
    uint8_t why;
    uint16_t line;    /* in the policy's source, from 1 */
    const char *text; /* NULL unless CATAPULTS_TEXTS is defined */
};
#define CATAPULTS_STOP_GUARD 0
#define CATAPULTS_STOP_FAIL 1

#ifdef CATAPULTS_TEXTS
#define CATAPULTS_TEXT(text) text
#else
#define CATAPULTS_TEXT(text) NULL
#endif

/* The statement in this line moves a thread. A host that records it defines this before it includes the file. */
#ifndef CATAPULTS_MOVED
#define CATAPULTS_MOVED(line) ((void)0)
#endif

/* `int` of the policy language: 16 bits, unless the host's header has said otherwise. */
#if defined(CATAPULTS_INT_BITS) && CATAPULTS_INT_BITS == 32
typedef int32_t catapults_int;
typedef uint32_t catapults_bits;
#else
typedef int16_t catapults_int;
typedef uint16_t catapults_bits;
#endif

#ifdef CATAPULTS_HAS_TIME
/* `time`: nanoseconds. */
typedef int64_t catapults_time;
#endif

#endif
