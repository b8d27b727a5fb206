/*
 * Catapults: mutexes, conditions, read-write locks, semaphores, barriers, and what is done once. Part of catapults.h.
 *
 * All-zero memory is one of the default kind, as the initializers make it (of a barrier there is none). Each must stay
 * where it is while it is in use. Waiters are served first come, first served, but for those that are suspended:
 * see catapults_suspend. A thread that comes when a mutex has just been unlocked may take it before those who wait,
 * once.
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

/* A thread that ends while it has a mutex, or a read-write lock for writing, has it for ever, and nobody lends it turns
 * any more; unless the mutex is robust. */

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
     * the ceiling falls by an unlock, the thread yields. To a thread whose policy has no such import, because it was
     * replaced or had to go, or the thread is under another scheduler, the mutex is as one of INHERIT: who comes to
     * wait then lends it turns. Once there is a policy that has it, what the thread holds by then counts. */
    int64_t ceiling;
};

typedef struct catapults_mutex {
    uintptr_t state; /* the owner; the lowest bit: there is more to do than to change the owner */
    struct catapults_waiters waiters;
    uint32_t depth; /* RECURSIVE: locks beyond the first */
    uint8_t type, protocol, robust;
    uint8_t health;             /* of what a robust one protects */
    uint32_t came, passed_over; /* how many have begun to wait; and as many of them, that one took it before, wait no
                                   longer, or come next */
    int64_t ceiling;
    struct catapults_mutex *held_next, *held_previous; /* robust or PROTECT: of the same owner */
} catapults_mutex_t;
#define CATAPULTS_MUTEX_INITIALIZER {0, {0, 0}, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
#define CATAPULTS_RECURSIVE_MUTEX_INITIALIZER {0, {0, 0}, 0, CATAPULTS_MUTEX_RECURSIVE, 0, 0, 0, 0, 0, 0, 0, 0}

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

/* EINVAL: it is not a PROTECT one. Setting locks the mutex and unlocks it again; `before` may be NULL. What is refused
 * by catapults_mutex_lock is refused here: nothing is set. But after EOWNERDEAD the caller has it, as there. */
int catapults_mutex_getprioceiling(const catapults_mutex_t *mutex, int64_t *ceiling);
int catapults_mutex_setprioceiling(catapults_mutex_t *mutex, int64_t ceiling, int64_t *before);

/* ---- Conditions -------------------------------------------------------------------------------------------------- */

typedef struct {
    struct catapults_waiters waiters;
    uintptr_t owner; /* see catapults_cond_set_owner */
} catapults_cond_t;
#define CATAPULTS_COND_INITIALIZER {{0, 0}, 0}

int catapults_cond_init(catapults_cond_t *cond);
int catapults_cond_destroy(catapults_cond_t *cond); /* EBUSY: threads wait */

/* The caller has the mutex, before and after; a RECURSIVE one is given up whole. EPERM: it does not. Both may also
 * return what catapults_mutex_lock does for a robust one. */
int catapults_cond_wait(catapults_cond_t *cond, catapults_mutex_t *mutex);
int catapults_cond_wait_until(catapults_cond_t *cond, catapults_mutex_t *mutex, int64_t instant); /* ETIMEDOUT */
int catapults_cond_signal(catapults_cond_t *cond);
int catapults_cond_broadcast(catapults_cond_t *cond);

/* The thread is expected to signal: who waits lends its turns to it, as who waits for a mutex does to its owner (1996,
 * §3.4). NULL: nobody in particular, as in the beginning. */
void catapults_cond_set_owner(catapults_cond_t *cond, catapults_t thread);

/* ---- Read-write locks -------------------------------------------------------------------------------------------- */

/*
 * Writers come first, and yet starve nobody: a thread that comes to read waits while a writer waits; when a writer
 * leaves, all readers that have come by then go before the next writer. So each waits for one turn of the other kind. A
 * thread that reads already must not ask to read again, for a writer may have come in between.
 *
 * Who waits lends its turns to the thread that writes; of many that read, none is the one to lend them to.
 */
typedef struct {
    uintptr_t writer; /* the thread, or 0 */
    uint64_t readers;
    struct catapults_waiters waiting_readers, waiting_writers;
} catapults_rwlock_t;
#define CATAPULTS_RWLOCK_INITIALIZER {0, 0, {0, 0}, {0, 0}}

int catapults_rwlock_init(catapults_rwlock_t *lock);
int catapults_rwlock_destroy(catapults_rwlock_t *lock); /* EBUSY */

/* EDEADLK: the caller has it for writing. */
int catapults_rwlock_rdlock(catapults_rwlock_t *lock);
int catapults_rwlock_rdlock_until(catapults_rwlock_t *lock, int64_t instant); /* ETIMEDOUT */
int catapults_rwlock_tryrdlock(catapults_rwlock_t *lock);                     /* EBUSY */
int catapults_rwlock_wrlock(catapults_rwlock_t *lock);
int catapults_rwlock_wrlock_until(catapults_rwlock_t *lock, int64_t instant); /* ETIMEDOUT */
int catapults_rwlock_trywrlock(catapults_rwlock_t *lock);                     /* EBUSY */
int catapults_rwlock_unlock(catapults_rwlock_t *lock);                        /* EPERM: the caller cannot have it */

/* ---- Semaphores -------------------------------------------------------------------------------------------------- */

typedef struct {
    uint32_t value;
    struct catapults_waiters waiters;
} catapults_sem_t;
#define CATAPULTS_SEM_VALUE_MAX INT32_MAX
#define CATAPULTS_SEM_INITIALIZER(value) {(value), {0, 0}}

/* They return error numbers, where POSIX sets errno; waiting may return EINTR (catapults/signals.h). */
int catapults_sem_init(catapults_sem_t *semaphore, uint32_t value); /* EINVAL: beyond CATAPULTS_SEM_VALUE_MAX */
int catapults_sem_destroy(catapults_sem_t *semaphore);              /* EBUSY: threads wait */
int catapults_sem_wait(catapults_sem_t *semaphore);
int catapults_sem_wait_until(catapults_sem_t *semaphore, int64_t instant); /* ETIMEDOUT */
int catapults_sem_trywait(catapults_sem_t *semaphore);                     /* EAGAIN */
int catapults_sem_post(catapults_sem_t *semaphore);                        /* EOVERFLOW */
int catapults_sem_getvalue(const catapults_sem_t *semaphore, int *value);  /* 0 while threads wait */

/* ---- Barriers ---------------------------------------------------------------------------------------------------- */

typedef struct {
    uint32_t count, arrived;
    uint64_t process;
    struct catapults_waiters waiters;
} catapults_barrier_t;
#define CATAPULTS_BARRIER_SERIAL_THREAD (-1)

int catapults_barrier_init(catapults_barrier_t *barrier, uint32_t count); /* EINVAL: none */
int catapults_barrier_destroy(catapults_barrier_t *barrier);              /* EBUSY: threads wait */

/* Waits until `count` threads are here. One of them, the last to come, gets CATAPULTS_BARRIER_SERIAL_THREAD. */
int catapults_barrier_wait(catapults_barrier_t *barrier);

/* ---- Once -------------------------------------------------------------------------------------------------------- */

typedef struct {
    uint64_t state;
    struct catapults_waiters waiters;
} catapults_once_t;
#define CATAPULTS_ONCE_INIT {0, {0, 0}}

/* The first of all callers calls `routine`; the others return when that has returned. If it does not return, because
 * its thread is cancelled or it throws, the next caller calls it anew. */
int catapults_once(catapults_once_t *once, void (*routine)(void));

#ifdef __cplusplus
}
#endif
#endif
