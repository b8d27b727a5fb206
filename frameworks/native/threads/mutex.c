/*
 * Mutexes. Unlocking leaves the mutex free and makes the first waiter ready. So a thread that locks and unlocks does
 * not give up the processor each time (a convoy). A thread that comes while the mutex is free takes it, and passes over
 * all that wait. Each of these is then handed the mutex by the owner before it, and so is passed over at most once.
 * Waiting threads never pass over each other: one that finds it free, and is not the first, hands it to the first, and
 * lends its turn.
 *
 * The short ways through lock, trylock and unlock are here and not in the header: code of the runtime is not
 * interrupted, so on one processor they need no atomic instruction, which would cost more than the call.
 */
#include "threads/mutex.h"

#include <errno.h>

#include "process/imports.h"
#include "process/report.h"
#include "process/runtime.h"
#include "threads/waiters.h"

/* What a robust mutex protects. */
enum health { SOUND, OWNER_DIED, LOST };

static __attribute__((noinline)) int lock_slowly(catapults_mutex_t *mutex, struct catapults_handle *self);
static int lock(catapults_mutex_t *mutex, struct catapults_handle *self, int64_t instant);
static int lock_again(catapults_mutex_t *mutex, struct catapults_handle *self, int64_t instant);
static __attribute__((noinline)) int lock_generally(catapults_mutex_t *mutex, struct catapults_handle *self,
                                                    int64_t instant);
static void begin_to_wait(catapults_mutex_t *mutex, struct catapults_handle *self);
static int wait(catapults_mutex_t *mutex, struct catapults_handle *self, int64_t instant, bool refuses);
static __attribute__((noinline)) int wait_on(struct catapults_handle *self);
static int wait_until(catapults_mutex_t *mutex, struct catapults_handle *self, int64_t instant, bool refuses,
                      bool for_itself, bool expired);
static bool is_lent_to(const catapults_mutex_t *mutex);
static bool is_mine(const catapults_mutex_t *mutex, const struct catapults_handle *self, bool for_itself);
static void hand_to_first(catapults_mutex_t *mutex);
static int take_free(catapults_mutex_t *mutex, struct catapults_handle *self);
static int take(catapults_mutex_t *mutex, struct catapults_handle *self);
static __attribute__((noinline)) int unlock_slowly(catapults_mutex_t *mutex, struct catapults_handle *self);
static bool unlock(catapults_mutex_t *mutex, struct catapults_handle *self);
static void leave(catapults_mutex_t *mutex);
static void set_owner(catapults_mutex_t *mutex, const struct member *owner);
static bool booked(const catapults_mutex_t *mutex);
static void book(catapults_mutex_t *mutex, struct catapults_handle *self);
static void strike(catapults_mutex_t *mutex, struct catapults_handle *self);
static void take_out(catapults_mutex_t *mutex, struct catapults_handle *self);
static void find_ceiling(struct catapults_handle *self, int64_t most);

/* ---- Beginning and end ------------------------------------------------------------------------------------------- */

int catapults_mutex_init(catapults_mutex_t *mutex, const struct catapults_mutex_attributes *attributes) {
    static const struct catapults_mutex_attributes none;
    if (!attributes)
        attributes = &none;
    if ((unsigned)attributes->type > CATAPULTS_MUTEX_RECURSIVE ||
        (unsigned)attributes->protocol > CATAPULTS_PROTOCOL_PROTECT)
        return EINVAL;
    if (attributes->protocol == CATAPULTS_PROTOCOL_PROTECT) {
        dispatcher_enter(); /* another processor may give the caller another instance */
        bool known = imports_has_ceiling(member_self());
        dispatcher_leave();
        if (!known)
            return ENOTSUP;
    }
    *mutex = (catapults_mutex_t){.type = (uint8_t)attributes->type,
                                 .protocol = (uint8_t)attributes->protocol,
                                 .robust = attributes->robust,
                                 .ceiling = attributes->ceiling};
    set_owner(mutex, NULL);
    return 0;
}

int catapults_mutex_destroy(catapults_mutex_t *mutex) {
    runtime_enter(); /* a thread that was about to leave it has done so */
    bool busy = mutex_owner(mutex) || mutex->waiters.first;
    runtime_leave();
    return busy ? EBUSY : 0;
}

int catapults_mutex_consistent(catapults_mutex_t *mutex) {
    if (mutex_owner(mutex) != member_self() || mutex->health != OWNER_DIED)
        return EINVAL;
    mutex->health = SOUND;
    return 0;
}

int catapults_mutex_getprioceiling(const catapults_mutex_t *mutex, int64_t *ceiling) {
    if (mutex->protocol != CATAPULTS_PROTOCOL_PROTECT)
        return EINVAL;
    *ceiling = mutex->ceiling;
    return 0;
}

int catapults_mutex_setprioceiling(catapults_mutex_t *mutex, int64_t ceiling, int64_t *before) {
    if (mutex->protocol != CATAPULTS_PROTOCOL_PROTECT)
        return EINVAL;
    int result = catapults_mutex_lock(mutex);
    if (result != 0)
        return result; /* EOWNERDEAD: it stays locked; unlocked, it would be lost */
    if (before)
        *before = mutex->ceiling;
    dispatcher_enter();
    mutex->ceiling = ceiling;
    find_ceiling(handle_self(), INT64_MAX);
    dispatcher_leave();
    return catapults_mutex_unlock(mutex);
}

/* ---- Locking ----------------------------------------------------------------------------------------------------- */

/* The short ways: changes the state, if it is `from`. */
static inline __attribute__((always_inline)) bool change(catapults_mutex_t *mutex, uintptr_t from, uintptr_t to,
                                                         int order) {
    if (__builtin_expect(dispatcher_guard.several, 0))
        return __atomic_compare_exchange_n(&mutex->state, &from, to, false, order, __ATOMIC_RELAXED);
    if (__builtin_expect(mutex->state != from, 0))
        return false;
    mutex->state = to;
    return true;
}

static __attribute__((noinline)) int lock_back_from_kernel(catapults_mutex_t *mutex) {
    struct catapults_handle *self = handle_self();
    return change(mutex, 0, self->member.word, __ATOMIC_ACQUIRE) ? 0 : lock_slowly(mutex, self);
}

static __attribute__((noinline)) int unlock_back_from_kernel(catapults_mutex_t *mutex) {
    struct catapults_handle *self = handle_self();
    return change(mutex, self->member.word, 0, __ATOMIC_RELEASE) ? 0 : unlock_slowly(mutex, self);
}

int catapults_mutex_lock(catapults_mutex_t *mutex) {
    if (member_must_regain())
        return lock_back_from_kernel(mutex);
    struct catapults_handle *self = handle_here();
    if (__builtin_expect(change(mutex, 0, self->member.word, __ATOMIC_ACQUIRE), 1))
        return 0;
    return lock_slowly(mutex, self);
}

int catapults_mutex_lock_until(catapults_mutex_t *mutex, int64_t instant) {
    struct catapults_handle *self = handle_self();
    if (change(mutex, 0, self->member.word, __ATOMIC_ACQUIRE))
        return 0;
    return lock_generally(mutex, self, instant);
}

int catapults_mutex_trylock(catapults_mutex_t *mutex) {
    dispatcher_enter();
    mutex_claim(mutex);
    struct catapults_handle *self = handle_self();
    const struct member *owner = mutex_owner(mutex);
    bool again = owner == &self->member && mutex->type == CATAPULTS_MUTEX_RECURSIVE;
    int result = again ? lock_again(mutex, self, 0) : owner ? EBUSY : take_free(mutex, self);
    dispatcher_leave();
    return result;
}

int catapults_mutex_unlock(catapults_mutex_t *mutex) {
    if (member_must_regain())
        return unlock_back_from_kernel(mutex);
    struct catapults_handle *self = handle_here();
    if (__builtin_expect(change(mutex, self->member.word, 0, __ATOMIC_RELEASE), 1))
        return 0;
    return unlock_slowly(mutex, self);
}

/* Lending needs no guard, and nothing counts of this mutex but who has it and who waits. */
static bool is_plain(const catapults_mutex_t *mutex) {
    return !dispatcher_guard.guarded && !mutex->protocol && !mutex->robust && !mutex->depth;
}

/* Usually another thread has it, waits for nothing, and gives it back while it runs on the turn of `self`: then nothing
 * is left to be done. */
static int lock_slowly(catapults_mutex_t *mutex, struct catapults_handle *self) {
    if (__builtin_expect(!is_plain(mutex), 0))
        return lock_generally(mutex, self, CATAPULTS_FOREVER);
    const struct member *owner = mutex_owner(mutex);
    if (__builtin_expect(!owner || owner == &self->member || owner == &names_nobody || owner->dispatched.waits_for, 0))
        return lock_generally(mutex, self, CATAPULTS_FOREVER);
    begin_to_wait(mutex, self);
    mutex->state |= MUTEX_MORE;
    waiters_sleep_for(self, &mutex->state, true, BLOCK_LOCK, CATAPULTS_FOREVER);
    self = handle_self();
    if (__builtin_expect(self->waiting != NULL, 0))
        return wait_on(self);
    self->wants = NULL;
    return context_return_by_jump(0);
}

static int lock_generally(catapults_mutex_t *mutex, struct catapults_handle *self, int64_t instant) {
    dispatcher_enter();
    mutex_claim(mutex);
    int result = lock(mutex, self, instant);
    dispatcher_leave();
    return result;
}

static int lock(catapults_mutex_t *mutex, struct catapults_handle *self, int64_t instant) {
    const struct member *owner = mutex_owner(mutex);
    if (!owner)
        return take_free(mutex, self);
    return owner == &self->member ? lock_again(mutex, self, instant)
                                  : wait(mutex, self, instant, mutex->type != CATAPULTS_MUTEX_NORMAL);
}

/* By its owner. */
static int lock_again(catapults_mutex_t *mutex, struct catapults_handle *self, int64_t instant) {
    switch ((enum catapults_mutex_type)mutex->type) {
    case CATAPULTS_MUTEX_ERRORCHECK:
        return EDEADLK;
    case CATAPULTS_MUTEX_NORMAL:
        return wait(mutex, self, instant, false);
    case CATAPULTS_MUTEX_RECURSIVE:
        if (mutex->depth == UINT32_MAX)
            return EAGAIN;
        mutex->depth++;
        set_owner(mutex, &self->member);
        return 0;
    }
    __builtin_unreachable();
}

static inline void begin_to_wait(catapults_mutex_t *mutex, struct catapults_handle *self) {
    self->wants = mutex;
    self->woken = false;
    self->came = ++mutex->came;
    waiters_append(&mutex->waiters, self);
}

/* The waiting thread lends its turns to the owner, unless that waits for it: then it is refused, or the cycle
 * reported. */
static int wait(catapults_mutex_t *mutex, struct catapults_handle *self, int64_t instant, bool refuses) {
    bool for_itself = mutex_owner(mutex) == &self->member;
    begin_to_wait(mutex, self);
    set_owner(mutex, mutex_owner(mutex));
    return wait_until(mutex, self, instant, refuses, for_itself, false);
}

/* It has waited, and is still in the list. */
static int wait_on(struct catapults_handle *self) {
    catapults_mutex_t *mutex = (catapults_mutex_t *)self->wants;
    self->woken = false;
    return wait_until(mutex, self, CATAPULTS_FOREVER, mutex->type != CATAPULTS_MUTEX_NORMAL, false, false);
}

static int wait_until(catapults_mutex_t *mutex, struct catapults_handle *self, int64_t instant, bool refuses,
                      bool for_itself, bool expired) {
    bool reported = false;
    while (!is_mine(mutex, self, for_itself) && !expired && mutex->health != LOST) {
        if (!mutex_owner(mutex)) {
            hand_to_first(mutex);
            continue;
        }
        bool waits = for_itself || mutex_owner(mutex)->dispatched.waits_for;
        enum dispatcher_cycle cycle = waits ? dispatcher_cycle(&mutex->state) : CYCLE_NONE;
        if (cycle == CYCLE_CLOSED && instant == CATAPULTS_FOREVER && !reported) {
            if (refuses)
                break;
            report_cycle(mutex_owner(mutex));
            reported = true;
        }
        bool lends = cycle == CYCLE_NONE && is_lent_to(mutex);
        expired = waiters_sleep_for(self, &mutex->state, lends, BLOCK_LOCK, instant) != 0;
        self->woken = false;
    }
    self->wants = NULL;
    if (!self->waiting)
        return 0; /* see give_back */
    bool mine = is_mine(mutex, self, for_itself);
    waiters_remove(&mutex->waiters, self);
    if (mine)
        return take(mutex, self);
    bool lost = mutex->health == LOST;
    set_owner(mutex, mutex_owner(mutex)); /* another thread may now unlock the short way, and destroy it */
    return lost ? ENOTRECOVERABLE : expired ? ETIMEDOUT : EDEADLK;
}

/* Whether its waiters lend to its owner. With a ceiling they need not, unless the owner's policy knows of none. */
static bool is_lent_to(const catapults_mutex_t *mutex) {
    const struct member *owner = mutex_owner(mutex);
    if (owner == &names_nobody)
        return false;
    switch ((enum catapults_mutex_protocol)mutex->protocol) {
    case CATAPULTS_PROTOCOL_INHERIT:
        return true;
    case CATAPULTS_PROTOCOL_NONE:
        return false;
    case CATAPULTS_PROTOCOL_PROTECT:
        return owner->dispatched.state != THREAD_ENDED && !imports_has_ceiling(owner);
    }
    __builtin_unreachable();
}

/* Whether it is the owner; or it is free, and no other waiter comes before. */
static bool is_mine(const catapults_mutex_t *mutex, const struct catapults_handle *self, bool for_itself) {
    const struct member *owner = mutex_owner(mutex);
    const struct catapults_handle *first = waiters_first(&mutex->waiters);
    return !for_itself && (owner == &self->member || (!owner && (first == self || first->suspended)));
}

/* May run other threads. */
static void hand_to_first(catapults_mutex_t *mutex) {
    struct catapults_handle *first = waiters_first(&mutex->waiters);
    set_owner(mutex, &first->member);
    first->woken = true;
    waiters_wake(first);
}

/* Taken by one that comes. */
static int take_free(catapults_mutex_t *mutex, struct catapults_handle *self) {
    mutex->passed_over = mutex->came;
    return take(mutex, self);
}

/* Takes a mutex that is free, or was handed to `self`. */
static int take(catapults_mutex_t *mutex, struct catapults_handle *self) {
    if (mutex->health == LOST) {
        set_owner(mutex, NULL);
        return ENOTRECOVERABLE;
    }
    if (booked(mutex))
        book(mutex, self);
    set_owner(mutex, &self->member);
    return mutex->health == OWNER_DIED ? EOWNERDEAD : 0;
}

/* ---- Unlocking --------------------------------------------------------------------------------------------------- */

/* The turn is that of the thread that has waited longest, which gets the mutex and goes on. */
static int give_back(catapults_mutex_t *mutex, struct catapults_handle *first) {
    waiters_take(&mutex->waiters);
    mutex->state = first->member.word | (mutex->waiters.first ? MUTEX_MORE : 0);
    return dispatcher_give_back(&first->member.dispatched);
}

static bool can_give_back(const catapults_mutex_t *mutex, const struct catapults_handle *self) {
    if (!is_plain(mutex) || mutex->state != (self->member.word | MUTEX_MORE))
        return false;
    const struct catapults_handle *first = mutex->waiters.first;
    return first && processor_here()->turn == &first->member.dispatched && is_lending_only(&first->member.dispatched);
}

static int unlock_slowly(catapults_mutex_t *mutex, struct catapults_handle *self) {
    if (__builtin_expect(can_give_back(mutex, self), 1))
        return give_back(mutex, mutex->waiters.first);
    dispatcher_enter();
    mutex_claim(mutex);
    int result = mutex_owner(mutex) == &self->member ? 0 : EPERM;
    bool falls = false;
    if (result == 0 && mutex->depth) {
        mutex->depth--;
        set_owner(mutex, &self->member);
    } else if (result == 0) {
        falls = unlock(mutex, self);
    }
    dispatcher_leave();
    if (falls)
        dispatcher_yield();
    return result;
}

/* Returns whether the ceiling of `self` has fallen. */
static bool unlock(catapults_mutex_t *mutex, struct catapults_handle *self) {
    bool falls = false;
    if (booked(mutex)) {
        strike(mutex, self);
        falls = mutex->protocol == CATAPULTS_PROTOCOL_PROTECT &&
                (!self->member.has_ceiling || self->member.ceiling < mutex->ceiling);
    }
    if (mutex->health == OWNER_DIED)
        mutex->health = LOST;
    leave(mutex);
    dispatcher_released();
    return falls;
}

/* A thread took it before `first`, which waits; or the thread whose turn it is waits for it, too, and lends to `first`
 * at once. */
static bool comes_next(const catapults_mutex_t *mutex, const struct catapults_handle *first) {
    const struct dispatcher_thread *turn = processor_here()->turn;
    return (int32_t)(mutex->passed_over - first->came) >= 0 || (turn && turn->waits_for == &mutex->state);
}

/* Frees it, or hands it over. May run other threads. A mutex without waiters is gone as soon as it is free: another
 * processor may lock it the short way, unlock and destroy it. One that is lost is not taken so. */
static void leave(catapults_mutex_t *mutex) {
    struct catapults_handle *first = waiters_are_there(&mutex->waiters) ? waiters_first(&mutex->waiters) : NULL;
    bool lost = mutex->health == LOST, hand_over = first && !lost && comes_next(mutex, first);
    set_owner(mutex, hand_over ? &first->member : NULL);
    if (lost) {
        for (first = mutex->waiters.first; first; first = first->wait_next)
            if (waiters_may_wake(first))
                dispatcher_unblock_only(&first->member.dispatched);
        dispatcher_unblocked();
    } else if (first && (hand_over || !first->woken)) {
        first->woken = true;
        waiters_wake(first);
    }
}

/* A suspended thread takes no mutex, not even one that was left to it and that it has not taken yet. */
void mutex_pass_on(struct catapults_handle *thread) {
    catapults_mutex_t *mutex = (catapults_mutex_t *)thread->wants;
    if (__builtin_expect(!mutex, 1) || !thread->waiting || thread == handle_self())
        return;
    mutex_claim(mutex);
    const struct member *owner = mutex_owner(mutex);
    if (owner == &thread->member)
        dispatcher_renamed(&thread->member.dispatched);
    if (owner == &thread->member || !owner)
        leave(mutex);
    else
        set_owner(mutex, owner);
}

uint32_t mutex_release(catapults_mutex_t *mutex, struct catapults_handle *self) {
    mutex_claim(mutex);
    uint32_t depth = mutex->depth;
    mutex->depth = 0;
    unlock(mutex, self); /* the thread blocks next: no need to yield */
    return depth;
}

int mutex_relock(catapults_mutex_t *mutex, struct catapults_handle *self, uint32_t depth) {
    mutex_claim(mutex);
    int result = mutex_owner(mutex) ? wait(mutex, self, CATAPULTS_FOREVER, false) : take_free(mutex, self);
    if (depth && result != ENOTRECOVERABLE) {
        mutex->depth = depth;
        set_owner(mutex, &self->member);
    }
    return result;
}

static void set_owner(catapults_mutex_t *mutex, const struct member *owner) {
    bool more = mutex->waiters.first || mutex->depth || booked(mutex);
    uintptr_t name = owner ? owner->word : 0;
    __atomic_store_n(&mutex->state, name | (more ? MUTEX_MORE : 0), __ATOMIC_RELEASE);
}

/* ---- Mutexes of which their owner keeps a book: robust, or with a ceiling ---------------------------------------- */

static bool booked(const catapults_mutex_t *mutex) {
    return mutex->robust || mutex->protocol == CATAPULTS_PROTOCOL_PROTECT;
}

/* In few steps, however many it has: a greater ceiling is in force at once, and nothing else changes. */
static void book(catapults_mutex_t *mutex, struct catapults_handle *self) {
    mutex->held_previous = NULL;
    mutex->held_next = self->mutexes;
    if (self->mutexes)
        self->mutexes->held_previous = mutex;
    self->mutexes = mutex;
    if (mutex->protocol != CATAPULTS_PROTOCOL_PROTECT ||
        (self->member.has_ceiling && mutex->ceiling <= self->member.ceiling))
        return;
    self->member.ceiling = mutex->ceiling;
    self->member.has_ceiling = true;
    imports_link_ceiling(&self->member);
}

static void strike(catapults_mutex_t *mutex, struct catapults_handle *self) {
    take_out(mutex, self);
    if (mutex->protocol == CATAPULTS_PROTOCOL_PROTECT && mutex->ceiling == self->member.ceiling)
        find_ceiling(self, mutex->ceiling);
}

static void take_out(catapults_mutex_t *mutex, struct catapults_handle *self) {
    if (mutex->held_previous)
        mutex->held_previous->held_next = mutex->held_next;
    else
        self->mutexes = mutex->held_next;
    if (mutex->held_next)
        mutex->held_next->held_previous = mutex->held_previous;
}

/* The greatest of those that `self` has, none of which is greater than `most`. */
static void find_ceiling(struct catapults_handle *self, int64_t most) {
    bool found = false;
    int64_t ceiling = 0;
    for (const catapults_mutex_t *mutex = self->mutexes; mutex && !(found && ceiling == most);
         mutex = mutex->held_next) {
        if (mutex->protocol != CATAPULTS_PROTOCOL_PROTECT || (found && mutex->ceiling <= ceiling))
            continue;
        ceiling = mutex->ceiling;
        found = true;
    }
    self->member.ceiling = ceiling;
    self->member.has_ceiling = found;
    imports_link_ceiling(&self->member);
}

/* The ceiling stays until all are left: the thread is about to end, and there may be very many. */
void mutex_abandon_all(struct catapults_handle *self) {
    catapults_mutex_t *mutex;
    while ((mutex = self->mutexes)) {
        take_out(mutex, self);
        if (!mutex->robust)
            continue; /* it stays locked for ever */
        mutex->depth = 0;
        mutex->health = OWNER_DIED;
        leave(mutex);
    }
    if (self->member.has_ceiling)
        find_ceiling(self, INT64_MAX);
}
