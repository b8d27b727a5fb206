#include "beneath/owner.h"

#include <linux/futex.h>

#include "contexts/memory.h"
#include "contexts/text.h"
#include "process/imports.h"

struct owned {
    const uint32_t *word;
    uintptr_t name; /* of the thread that has it, or is about to */
    uint32_t waiters;
    bool passed; /* one of them is the thread that has it now, and has not run since */
    struct owned *next;
};

enum { LISTS = 256 };
static struct owned *lists[LISTS];

static struct owned **list_of(const uint32_t *word) { return &lists[((uintptr_t)word >> 3) % LISTS]; }

static struct owned *find(const uint32_t *word) {
    struct owned *lock = *list_of(word);
    while (lock && lock->word != word)
        lock = lock->next;
    return lock;
}

static struct owned *find_or_make(const uint32_t *word) {
    struct owned *lock = find(word);
    if (lock || !(lock = memory_take(sizeof *lock)))
        return lock;
    struct owned **list = list_of(word);
    *lock = (struct owned){.word = word, .next = *list};
    *list = lock;
    return lock;
}

static void forget_if_unused(struct owned *lock) {
    struct owned **place = list_of(lock->word);
    if (lock->waiters > 0)
        return;
    while (*place != lock)
        place = &(*place)->next;
    *place = lock->next;
    memory_give(lock);
}

/* A mutex of pthreads, of which the word is the first member: see glibc's struct __pthread_mutex_s. Locks that libc has
 * for itself wait in the same way, and have something else there. */
struct mutex {
    int lock;
    unsigned depth;
    int owner;
    unsigned users;
    int kind;
};

static bool is_a_kind(int kind) {
    enum { TYPE = 3, ELISION = 0x300 };
    return (kind & ~(TYPE | ELISION)) == 0; /* not robust, nor of several processes */
}

static struct beneath_thread *thread_that_has(const uint32_t *word, uint32_t value) {
    enum { LOCKED_WITH_WAITERS = 2, PAGE = 4096 };
    if (value & FUTEX_WAITERS) /* robust ones */
        return thread_numbered((int)(value & FUTEX_TID_MASK));
    const struct mutex *mutex = (const struct mutex *)word;
    bool whole = ((uintptr_t)word & (PAGE - 1)) <= PAGE - sizeof *mutex; /* else it may end where memory does */
    if (value != LOCKED_WITH_WAITERS || !whole || ((uintptr_t)word & 7))
        return NULL;
    return is_a_kind(mutex->kind) && mutex->users > 0 ? thread_numbered(mutex->owner) : NULL;
}

/* ---- What the policy reads of who has locks ---------------------------------------------------------------------- */

static struct beneath_thread *thread_named(uintptr_t name) {
    return member_is_named(name) ? thread_of(&member_placed(name)->dispatched) : NULL;
}

/* The lock counts for the thread that has it; with -1, no longer. Around each change of a lock. */
static void count(const struct owned *lock, int sign) {
    struct beneath_thread *thread = thread_named(lock->name);
    catapults_int waiters = (catapults_int)lock->waiters - lock->passed;
    if (!thread || waiters <= 0)
        return;
    thread->locks.owned += sign;
    thread->locks.waiters += sign * waiters;
}

void owner_values(const struct beneath_thread *thread, struct catapults_value values[OWNER_VALUES]) {
    values[0] = catapults_value_int("owns", thread->locks.owned);
    values[1] = catapults_value_int("waiters", thread->locks.waiters);
}

bool owner_keeps(const char *name) { return text_equal(name, "owns") || text_equal(name, "waiters"); }

/* Returns whether its policy was told, and dispatcher_unblocked must follow. */
static bool tell_policy_of(struct beneath_thread *thread) {
    if (!thread)
        return false;
    struct catapults_value values[OWNER_VALUES];
    owner_values(thread, values);
    if (!imports_set_values(&thread->member, values, OWNER_VALUES))
        return false;
    dispatcher_tell_changed(&thread->member.dispatched);
    return true;
}

/* ---- Who waits, and for whom ------------------------------------------------------------------------------------- */

/* Those that lend by it lend to this thread from now on. None of them runs before `tell`, which may run other threads.
 */
static void rename_to(struct owned *lock, uintptr_t name) {
    struct member *before = member_is_named(lock->name) ? member_placed(lock->name) : NULL;
    if (lock->name != name && before && before != &thread_self()->member)
        dispatcher_renamed(&before->dispatched);
    lock->name = name;
    lock->passed = false;
}

static void tell(void) {
    dispatcher_unblocked();
    dispatcher_released(); /* the turn may be that of a thread which waited for the caller */
}

struct owned *owner_of(const uint32_t *word, uint32_t value) {
    struct beneath_thread *owner = thread_that_has(word, value);
    if (!owner || owner == thread_self())
        return NULL;
    struct owned *lock = find_or_make(word);
    if (!lock)
        return NULL; /* no memory: nobody lends */
    struct beneath_thread *before = thread_named(lock->name);
    bool another = lock->name != owner->member.word;
    count(lock, -1);
    lock->waiters++; /* it stays, whoever runs now */
    if (another)
        rename_to(lock, owner->member.word);
    count(lock, 1);
    bool told = before != owner && tell_policy_of(before);
    told |= tell_policy_of(owner);
    if (another || told)
        tell();
    if (dispatcher_cycle(&lock->name) == CYCLE_NONE)
        return lock;
    owner_forget(lock);
    return NULL;
}

const uintptr_t *owner_name(const struct owned *lock) { return &lock->name; }

void owner_forget(struct owned *lock) {
    struct beneath_thread *owner = thread_named(lock->name);
    count(lock, -1);
    lock->waiters--;
    if (owner == thread_self())
        lock->passed = false;
    count(lock, 1);
    forget_if_unused(lock);
    if (tell_policy_of(owner))
        dispatcher_unblocked();
}

bool owner_passes(const uint32_t *word, struct beneath_thread *thread) {
    struct owned *lock = find(word);
    if (!lock)
        return false;
    struct beneath_thread *before = thread_named(lock->name);
    count(lock, -1);
    rename_to(lock, thread->member.word);
    lock->passed = thread->member.dispatched.waits_for == &lock->name; /* else it is not among the counted */
    count(lock, 1);
    tell_policy_of(before);
    tell_policy_of(thread);
    dispatcher_unblock_only(&thread->member.dispatched);
    tell();
    return true;
}

void owner_restart(void) {
    for (unsigned i = 0; i < LISTS; i++)
        while (lists[i]) {
            struct owned *lock = lists[i];
            lists[i] = lock->next;
            memory_give(lock);
        }
    thread_self()->locks.owned = thread_self()->locks.waiters = 0; /* its policy in the child begins anew */
}
