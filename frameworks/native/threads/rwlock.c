/*
 * Read-write locks. They are handed over: the thread that leaves decides which one has it next.
 */
#include <errno.h>

#include "process/runtime.h"
#include "threads/waiters.h"

static int try_to_read(catapults_rwlock_t *lock);
static int try_to_write(catapults_rwlock_t *lock, struct catapults_handle *self);
static int wait(catapults_rwlock_t *lock, struct catapults_waiters *waiters, struct catapults_handle *self,
                int64_t instant);
static bool take_after_all(catapults_rwlock_t *lock, struct catapults_waiters *waiters, struct catapults_handle *self);
static void leave(catapults_rwlock_t *lock);
static void lend_to_writer(catapults_rwlock_t *lock, const struct catapults_waiters *waiters);
static void admit_readers(catapults_rwlock_t *lock);

int catapults_rwlock_init(catapults_rwlock_t *lock) {
    *lock = (catapults_rwlock_t)CATAPULTS_RWLOCK_INITIALIZER;
    return 0;
}

int catapults_rwlock_destroy(catapults_rwlock_t *lock) {
    runtime_enter(); /* a thread that was about to leave it has done so, here as in other calls of this kind */
    bool busy = lock->writer || lock->readers;
    runtime_leave();
    return busy ? EBUSY : 0;
}

/* ---- To read ----------------------------------------------------------------------------------------------------- */

int catapults_rwlock_rdlock(catapults_rwlock_t *lock) { return catapults_rwlock_rdlock_until(lock, CATAPULTS_FOREVER); }

int catapults_rwlock_rdlock_until(catapults_rwlock_t *lock, int64_t instant) {
    struct catapults_handle *self = handle_self();
    dispatcher_enter();
    int result = lock->writer == self->member.word ? EDEADLK : try_to_read(lock);
    if (result == EBUSY)
        result = wait(lock, &lock->waiting_readers, self, instant);
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
    if (lock->writer || waiters_are_there(&lock->waiting_writers))
        return EBUSY;
    lock->readers++;
    return 0;
}

/* ---- To write ---------------------------------------------------------------------------------------------------- */

int catapults_rwlock_wrlock(catapults_rwlock_t *lock) { return catapults_rwlock_wrlock_until(lock, CATAPULTS_FOREVER); }

int catapults_rwlock_wrlock_until(catapults_rwlock_t *lock, int64_t instant) {
    struct catapults_handle *self = handle_self();
    dispatcher_enter();
    int result = lock->writer == self->member.word ? EDEADLK : try_to_write(lock, self);
    if (result == EBUSY)
        result = wait(lock, &lock->waiting_writers, self, instant);
    if (result && !lock->writer && !waiters_are_there(&lock->waiting_writers))
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
    lock->writer = self->member.word;
    return 0;
}

/* ---- Waiting ----------------------------------------------------------------------------------------------------- */

/* Lends to the writer, if there is one. */
static int wait(catapults_rwlock_t *lock, struct catapults_waiters *waiters, struct catapults_handle *self,
                int64_t instant) {
    int result = 0;
    waiters_append(waiters, self);
    while (self->waiting && !result) {
        bool lends = member_is_named(lock->writer) && dispatcher_cycle(&lock->writer) == CYCLE_NONE;
        result = waiters_sleep_for(self, &lock->writer, lends, BLOCK_LOCK, instant);
        if (self->waiting && take_after_all(lock, waiters, self))
            break;
    }
    return waiters_outcome(waiters, self, result);
}

/* It was suspended when it could have been served. Returns whether it is now. */
static bool take_after_all(catapults_rwlock_t *lock, struct catapults_waiters *waiters, struct catapults_handle *self) {
    bool taken = (waiters == &lock->waiting_readers ? try_to_read(lock) : try_to_write(lock, self)) == 0;
    if (taken)
        waiters_remove(waiters, self);
    return taken;
}

/* ---- Leaving ----------------------------------------------------------------------------------------------------- */

int catapults_rwlock_unlock(catapults_rwlock_t *lock) {
    dispatcher_enter();
    bool may = lock->writer ? lock->writer == member_self()->word : lock->readers > 0;
    if (may)
        leave(lock);
    dispatcher_leave();
    return may ? 0 : EPERM;
}

static void leave(catapults_rwlock_t *lock) {
    bool known = lock->writer;
    if (known) {
        lock->writer = 0;
        if (waiters_are_there(&lock->waiting_readers)) {
            admit_readers(lock);
            dispatcher_released();
            return;
        }
    } else if (--lock->readers) {
        return;
    }
    if (waiters_are_there(&lock->waiting_writers)) {
        struct catapults_handle *next = waiters_first(&lock->waiting_writers);
        lock->writer = next->member.word;
        waiters_remove(&lock->waiting_writers, next);
        if (waiters_may_wake(next))
            dispatcher_unblock_only(&next->member.dispatched);
        if (!known) {
            lend_to_writer(lock, &lock->waiting_readers);
            lend_to_writer(lock, &lock->waiting_writers);
        }
        dispatcher_unblocked();
    } else if (waiters_are_there(&lock->waiting_readers)) {
        admit_readers(lock); /* they waited behind a writer that is suspended */
        return;
    }
    if (known)
        dispatcher_released();
}

/* For threads that have waited for readers. */
static void lend_to_writer(catapults_rwlock_t *lock, const struct catapults_waiters *waiters) {
    for (struct catapults_handle *thread = waiters->first; thread; thread = thread->wait_next)
        if (waiters_may_wake(thread))
            dispatcher_redirected(&thread->member.dispatched, &lock->writer);
}

/* Without suspended ones, which look again later: nobody is to wait for them to read. */
static void admit_readers(catapults_rwlock_t *lock) {
    for (struct catapults_handle *reader = lock->waiting_readers.first, *next; reader; reader = next) {
        next = reader->wait_next;
        if (reader->suspended)
            continue;
        lock->readers++;
        waiters_remove(&lock->waiting_readers, reader);
        if (waiters_may_wake(reader))
            dispatcher_unblock_only(&reader->member.dispatched);
    }
    dispatcher_unblocked();
}
