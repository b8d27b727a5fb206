/*
 * Catapults: mutexes, conditions, read-write locks, semaphores, barriers, and once. Part of catapults.h.
 *
 * All-zero memory is an object of the default kind, as the initializers make it; barriers have none. An object must
 * stay where it is while in use. Waiters are served first come, first served, except suspended ones: see
 * catapults_suspend. A thread that comes just after a mutex was unlocked may take it before the waiting threads. Each
 * of these is passed over at most once.
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

/* If a thread ends while it has a mutex, or a read-write lock for writing, the lock stays locked for ever, and nobody
 * lends it turns any more, unless it is a robust mutex. */

enum catapults_mutex_type {
    CATAPULTS_MUTEX_ERRORCHECK, /* the default. An owner that locks it again gets EDEADLK */
    CATAPULTS_MUTEX_NORMAL,     /* ...waits for itself: for ever, or until the instant */
    CATAPULTS_MUTEX_RECURSIVE   /* ...has it once more, and must unlock it as often */
};

enum catapults_mutex_protocol {
    CATAPULTS_PROTOCOL_INHERIT, /* the default, which POSIX calls PTHREAD_PRIO_INHERIT */
    CATAPULTS_PROTOCOL_NONE,
    CATAPULTS_PROTOCOL_PROTECT /* the owner runs at the mutex's ceiling at least: see `ceiling` */
};

struct catapults_mutex_attributes {
    enum catapults_mutex_type type;
    enum catapults_mutex_protocol protocol;
    bool robust; /* if its owner ends, the next thread to lock it gets EOWNERDEAD; see catapults_mutex_consistent */
    /* PROTECT: what a policy with `threadimports { int ceiling default …; }` reads while a thread has the mutex (of
     * several, the greatest); otherwise it reads its default. It then decides as if the thread were that urgent. When
     * an unlock lowers the ceiling, the thread yields. If the thread's policy has no such import, because it was
     * replaced or is out or the thread is under another scheduler, the mutex works as one of INHERIT: threads that come
     * to wait lend their turns. When a policy with the import comes, what the thread then holds counts. */
    int64_t ceiling;
};

typedef struct catapults_mutex {
    uintptr_t state; /* the owner; the lowest bit: there is more to do than to change the owner */
    struct catapults_waiters waiters;
    uint32_t depth; /* RECURSIVE: locks beyond the first */
    uint8_t type, protocol, robust;
    uint8_t health;             /* of what a robust mutex protects */
    uint32_t came, passed_over; /* how many have begun to wait; how many of these were passed over: they wait no longer,
                                   or come next */
    int64_t ceiling;
    struct catapults_mutex *held_next, *held_previous; /* robust or PROTECT: the other mutexes of the owner */
} catapults_mutex_t;
#define CATAPULTS_MUTEX_INITIALIZER {0, {0, 0}, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
#define CATAPULTS_RECURSIVE_MUTEX_INITIALIZER {0, {0, 0}, 0, CATAPULTS_MUTEX_RECURSIVE, 0, 0, 0, 0, 0, 0, 0, 0}

/* `attributes` may be NULL. EINVAL: no such type or protocol. ENOTSUP: PROTECT, and the policy imports no `ceiling`. */
int catapults_mutex_init(catapults_mutex_t *mutex, const struct catapults_mutex_attributes *attributes);
int catapults_mutex_destroy(catapults_mutex_t *mutex); /* EBUSY: it is locked; nothing has changed */

/* EDEADLK: the caller has it; or, unless it is NORMAL, the caller would wait for itself for ever, through locks and
 * joins. EAGAIN: RECURSIVE, too deep. EOWNERDEAD: the caller has it now, and its owner before has ended.
 * ENOTRECOVERABLE: it is unusable since then. */
int catapults_mutex_lock(catapults_mutex_t *mutex);
int catapults_mutex_lock_until(catapults_mutex_t *mutex, int64_t instant); /* ETIMEDOUT */
int catapults_mutex_trylock(catapults_mutex_t *mutex);                     /* EBUSY */
int catapults_mutex_unlock(catapults_mutex_t *mutex);                      /* EPERM: the caller does not have it */

/* After EOWNERDEAD: what the mutex protects is in order again. Unlocking without this call makes the mutex unusable
 * until it is destroyed. EINVAL: it is not in that state, or the caller does not have it. */
int catapults_mutex_consistent(catapults_mutex_t *mutex);

/* EINVAL: it is not a PROTECT mutex. Setting locks the mutex and unlocks it again; `before` may be NULL. It fails as
 * catapults_mutex_lock does, and sets nothing then. After EOWNERDEAD the caller has the mutex. */
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

/* The caller has the mutex before and after; a RECURSIVE one is unlocked completely in between. EPERM: the caller does
 * not have it. Both may also return what catapults_mutex_lock returns for a robust mutex. */
int catapults_cond_wait(catapults_cond_t *cond, catapults_mutex_t *mutex);
int catapults_cond_wait_until(catapults_cond_t *cond, catapults_mutex_t *mutex, int64_t instant); /* ETIMEDOUT */
int catapults_cond_signal(catapults_cond_t *cond);
int catapults_cond_broadcast(catapults_cond_t *cond);

/* The thread is expected to signal. Waiting threads lend it their turns, as those that wait for a mutex lend theirs to
 * its owner (1996, §3.4). NULL: no particular thread, as in the beginning. */
void catapults_cond_set_owner(catapults_cond_t *cond, catapults_t thread);

/* ---- Read-write locks -------------------------------------------------------------------------------------------- */

/*
 * Writers come first, but starve no reader: a thread that comes to read waits while a writer waits. When a writer
 * leaves, all readers that have come by then go before the next writer. So each waits for one turn of the other kind. A
 * thread that reads must not ask to read again: a writer may have come in between.
 *
 * Waiting threads lend their turns to the thread that writes, but not to readers, which may be many.
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

/* These return error numbers, where POSIX sets errno. Waiting may return EINTR (catapults/signals.h). */
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

/* Waits until `count` threads are here. The last one to come gets CATAPULTS_BARRIER_SERIAL_THREAD. */
int catapults_barrier_wait(catapults_barrier_t *barrier);

/* ---- Once -------------------------------------------------------------------------------------------------------- */

typedef struct {
    uint64_t state;
    struct catapults_waiters waiters;
} catapults_once_t;
#define CATAPULTS_ONCE_INIT {0, {0, 0}}

/* The first caller calls `routine`; the others return when it has returned. If it does not return, because its thread
 * is cancelled or it throws, the next caller calls it anew. */
int catapults_once(catapults_once_t *once, void (*routine)(void));

#ifdef __cplusplus
}
#endif
#endif
