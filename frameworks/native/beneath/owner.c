#include "beneath/owner.h"

#include <linux/futex.h>

#include "contexts/memory.h"

struct owned {
    const uint32_t *word;
    uintptr_t name; /* of the thread that has it, or is about to */
    uint32_t waiters;
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

/* Those that lend by it lend to this thread from now on. None of them runs before `tell`, which may run other threads.
 */
static void rename_to(struct owned *lock, uintptr_t name) {
    struct member *before = member_is_named(lock->name) ? member_placed(lock->name) : NULL;
    if (lock->name != name && before && before != &thread_self()->member)
        dispatcher_renamed(&before->dispatched);
    lock->name = name;
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
    lock->waiters++; /* it stays, whoever runs now */
    if (lock->name != owner->member.word) {
        rename_to(lock, owner->member.word);
        tell();
    }
    if (dispatcher_cycle(&lock->name) == CYCLE_NONE)
        return lock;
    owner_forget(lock);
    return NULL;
}

const uintptr_t *owner_name(const struct owned *lock) { return &lock->name; }

void owner_forget(struct owned *lock) {
    lock->waiters--;
    forget_if_unused(lock);
}

bool owner_passes(const uint32_t *word, struct beneath_thread *thread) {
    struct owned *lock = find(word);
    if (!lock)
        return false;
    rename_to(lock, thread->member.word);
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
}
