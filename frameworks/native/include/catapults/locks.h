/*
 * Catapults: mutexes and conditions. Part of catapults.h.
 *
 * All-zero memory is a mutex or condition of the default kind, as the initializers make it. Each must stay where it is
 * while it is in use. Waiters are served first come, first served.
 */
#ifndef CATAPULTS_LOCKS_H
#define CATAPULTS_LOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "catapults/threads.h"

#ifdef __cplusplus
extern "C" {
#endif

struct catapults_waiters {
    void *first, *last;
};

/* ---- Mutexes: owned by the thread that locked -------------------------------------------------------------------- */

enum catapults_mutex_type {
    CATAPULTS_MUTEX_ERRORCHECK, /* the default: who has it and locks it again gets EDEADLK */
    CATAPULTS_MUTEX_NORMAL,     /* ...waits for itself: for ever, or until the instant */
    CATAPULTS_MUTEX_RECURSIVE   /* ...has it once more, and unlocks it as often */
};

enum catapults_mutex_protocol {
    CATAPULTS_PROTOCOL_INHERIT, /* the default, which POSIX calls PTHREAD_PRIO_INHERIT */
    CATAPULTS_PROTOCOL_NONE,
    CATAPULTS_PROTOCOL_PROTECT /* who has it runs at its ceiling at least: see `ceiling` */
};

struct catapults_mutex_attributes {
    enum catapults_mutex_type type;
    enum catapults_mutex_protocol protocol;
    bool robust; /* if its owner ends, the next to lock it gets EOWNERDEAD; see catapults_mutex_consistent */
    /* PROTECT: what a policy with `threadimports { int ceiling default …; }` finds there while a thread has the mutex
     * (of several: the greatest), and its default otherwise. It then decides as if the thread were that urgent. When
     * the ceiling falls by an unlock, the thread yields. */
    int64_t ceiling;
};

typedef struct catapults_mutex {
    uintptr_t state; /* the owner; the lowest bit: there is more to do than to change the owner */
    struct catapults_waiters waiters;
    uint32_t depth; /* RECURSIVE: locks beyond the first */
    uint8_t type, protocol, robust;
    uint8_t health; /* of what a robust one protects */
    int64_t ceiling;
    struct catapults_mutex *held_next, *held_previous; /* robust or PROTECT: of the same owner */
} catapults_mutex_t;
#define CATAPULTS_MUTEX_INITIALIZER {0, {0, 0}, 0, 0, 0, 0, 0, 0, 0, 0}
#define CATAPULTS_RECURSIVE_MUTEX_INITIALIZER {0, {0, 0}, 0, CATAPULTS_MUTEX_RECURSIVE, 0, 0, 0, 0, 0, 0}

/* `attributes` may be NULL. EINVAL: no such type or protocol. ENOTSUP: PROTECT, and the policy imports no `ceiling`. */
int catapults_mutex_init(catapults_mutex_t *mutex, const struct catapults_mutex_attributes *attributes);
int catapults_mutex_destroy(catapults_mutex_t *mutex); /* EBUSY: it is locked; nothing has changed */

/* EDEADLK: the caller has it. EAGAIN: RECURSIVE, too deep. EOWNERDEAD: it is locked, but its owner ended while it had
 * it. ENOTRECOVERABLE: unusable since. */
int catapults_mutex_lock(catapults_mutex_t *mutex);
int catapults_mutex_lock_until(catapults_mutex_t *mutex, int64_t instant); /* ETIMEDOUT */
int catapults_mutex_trylock(catapults_mutex_t *mutex);                     /* EBUSY */
int catapults_mutex_unlock(catapults_mutex_t *mutex);                      /* EPERM: the caller does not have it */

/* After EOWNERDEAD: what the mutex protects is in order again. Unlocked without that, it is unusable until it is
 * destroyed. EINVAL: it is not in that state, or the caller does not have it. */
int catapults_mutex_consistent(catapults_mutex_t *mutex);

/* EINVAL: it is not a PROTECT one. Setting waits until the mutex is free; `before` may be NULL. */
int catapults_mutex_getprioceiling(const catapults_mutex_t *mutex, int64_t *ceiling);
int catapults_mutex_setprioceiling(catapults_mutex_t *mutex, int64_t ceiling, int64_t *before);

/* ---- Conditions -------------------------------------------------------------------------------------------------- */

typedef struct {
    struct catapults_waiters waiters;
} catapults_cond_t;
#define CATAPULTS_COND_INITIALIZER {{0, 0}}

int catapults_cond_init(catapults_cond_t *cond);
int catapults_cond_destroy(catapults_cond_t *cond); /* EBUSY: threads wait */

/* The caller has the mutex, before and after; a RECURSIVE one is given up whole. EPERM: it does not. Both may also
 * return what catapults_mutex_lock does for a robust one. */
int catapults_cond_wait(catapults_cond_t *cond, catapults_mutex_t *mutex);
int catapults_cond_wait_until(catapults_cond_t *cond, catapults_mutex_t *mutex, int64_t instant); /* ETIMEDOUT */
int catapults_cond_signal(catapults_cond_t *cond);
int catapults_cond_broadcast(catapults_cond_t *cond);

#ifdef __cplusplus
}
#endif
#endif
