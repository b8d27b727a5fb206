/*
 * Read-write locks. They are handed over: who leaves decides who has it next.
 */
#include <errno.h>

#include "threads/waiters.h"

static catapults_t writer(const struct catapults_handle *thread);
static int try_to_read(catapults_rwlock_t *lock);
static int try_to_write(catapults_rwlock_t *lock, struct catapults_handle *self);
static void leave(catapults_rwlock_t *lock);
static void admit_readers(catapults_rwlock_t *lock);

int catapults_rwlock_init(catapults_rwlock_t *lock) {
    *lock = (catapults_rwlock_t)CATAPULTS_RWLOCK_INITIALIZER;
    return 0;
}

int catapults_rwlock_destroy(catapults_rwlock_t *lock) { return lock->writer || lock->readers ? EBUSY : 0; }

/* What names it in `writer`: nobody else, also when it has ended. */
static catapults_t writer(const struct catapults_handle *thread) { return (catapults_t)thread->word; }

/* ---- To read ----------------------------------------------------------------------------------------------------- */

int catapults_rwlock_rdlock(catapults_rwlock_t *lock) { return catapults_rwlock_rdlock_until(lock, CATAPULTS_FOREVER); }

int catapults_rwlock_rdlock_until(catapults_rwlock_t *lock, int64_t instant) {
    struct catapults_handle *self = handle_self();
    if (lock->writer == writer(self))
        return EDEADLK;
    dispatcher_enter();
    int result = try_to_read(lock);
    if (result)
        result = waiters_wait(&lock->waiting_readers, self, BLOCK_LOCK, instant);
    dispatcher_leave();
    return result;
}

int catapults_rwlock_tryrdlock(catapults_rwlock_t *lock) {
    dispatcher_enter();
    int result = try_to_read(lock);
    dispatcher_leave();
    return result;
}

static int try_to_read(catapults_rwlock_t *lock) {
    if (lock->writer || lock->waiting_writers.first)
        return EBUSY;
    lock->readers++;
    return 0;
}

/* ---- To write ---------------------------------------------------------------------------------------------------- */

int catapults_rwlock_wrlock(catapults_rwlock_t *lock) { return catapults_rwlock_wrlock_until(lock, CATAPULTS_FOREVER); }

int catapults_rwlock_wrlock_until(catapults_rwlock_t *lock, int64_t instant) {
    struct catapults_handle *self = handle_self();
    if (lock->writer == writer(self))
        return EDEADLK;
    dispatcher_enter();
    int result = try_to_write(lock, self);
    if (result)
        result = waiters_wait(&lock->waiting_writers, self, BLOCK_LOCK, instant);
    if (!result)
        lock->writer = writer(self); /* whoever stood in the list for it */
    if (result && !lock->writer && !lock->waiting_writers.first)
        admit_readers(lock); /* they waited for nobody but this one */
    dispatcher_leave();
    return result;
}

int catapults_rwlock_trywrlock(catapults_rwlock_t *lock) {
    dispatcher_enter();
    int result = try_to_write(lock, handle_self());
    dispatcher_leave();
    return result;
}

static int try_to_write(catapults_rwlock_t *lock, struct catapults_handle *self) {
    if (lock->writer || lock->readers)
        return EBUSY;
    lock->writer = writer(self);
    return 0;
}

/* ---- Leaving ----------------------------------------------------------------------------------------------------- */

int catapults_rwlock_unlock(catapults_rwlock_t *lock) {
    dispatcher_enter();
    bool may = lock->writer ? lock->writer == writer(handle_self()) : lock->readers > 0;
    if (may)
        leave(lock);
    dispatcher_leave();
    return may ? 0 : EPERM;
}

static void leave(catapults_rwlock_t *lock) {
    if (lock->writer) {
        lock->writer = NULL;
        if (lock->waiting_readers.first) {
            admit_readers(lock);
            return;
        }
    } else if (--lock->readers) {
        return;
    }
    if (lock->waiting_writers.first) {
        lock->writer = writer(lock->waiting_writers.first);
        waiters_serve(&lock->waiting_writers);
    }
}

static void admit_readers(catapults_rwlock_t *lock) {
    for (struct catapults_handle *reader = lock->waiting_readers.first; reader; reader = reader->wait_next)
        lock->readers++;
    waiters_serve_all(&lock->waiting_readers);
}
