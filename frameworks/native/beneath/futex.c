#include "beneath/futex.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>

#include "beneath/instant.h"
#include "beneath/owner.h"

/*
 * What a process shares with others may be changed by them, and they wake by the kernel. Such a wait looks at the word
 * again, at first soon, then more rarely. NPTL also calls the wait for the end of a thread shared, though only the
 * runtime ends threads.
 */
enum { LOOK_FIRST = 500000, LOOK_LAST = 8000000 };

enum { LISTS = 1024 };

static struct {
    struct beneath_thread *first, *last;
} lists[LISTS];

static unsigned list_of(const uint32_t *word) {
    uintptr_t bits = (uintptr_t)word >> 2;
    return (unsigned)((bits ^ bits >> 10 ^ bits >> 20) % LISTS);
}

static void append(struct beneath_thread *thread, const uint32_t *word) {
    unsigned list = list_of(word);
    thread->futex.word = word;
    thread->futex.next = NULL;
    thread->futex.previous = lists[list].last;
    *(lists[list].last ? &lists[list].last->futex.next : &lists[list].first) = thread;
    lists[list].last = thread;
}

static void take_out(struct beneath_thread *thread) {
    unsigned list = list_of(thread->futex.word);
    struct beneath_thread *next = thread->futex.next, *previous = thread->futex.previous;
    *(previous ? &previous->futex.next : &lists[list].first) = next;
    *(next ? &next->futex.previous : &lists[list].last) = previous;
    thread->futex.word = NULL;
}

/* The first that waits for the word with one of these bits, beginning with `thread`. Whose instant has come, or for
 * whom a signal has, no longer waits, although it has not run since. */
static struct beneath_thread *waiting(struct beneath_thread *thread, const uint32_t *word, uint32_t bits) {
    while (thread &&
           (thread->futex.word != word || !(thread->futex.bits & bits) || !core_is_blocked(&thread->member.dispatched)))
        thread = thread->futex.next;
    return thread;
}

struct beneath_thread *futex_take(const uint32_t *word) {
    struct beneath_thread *thread = waiting(lists[list_of(word)].first, word, FUTEX_BITSET_MATCH_ANY);
    if (thread)
        take_out(thread);
    return thread;
}

void futex_restart(void) {
    for (unsigned i = 0; i < LISTS; i++)
        lists[i].first = lists[i].last = NULL;
    owner_restart();
}

/* ---- Waiting ----------------------------------------------------------------------------------------------------- */

static bool is_end_of_a_thread(const uint32_t *word) {
    for (struct dispatcher_thread *t = dispatcher_first_thread(); t; t = dispatcher_next_thread(t))
        if (thread_of(t)->clear == word)
            return true;
    return false;
}

/* 0, ETIMEDOUT, EINTR, or EAGAIN: it has another value. Who changes it then looks whether somebody waits, without the
 * lock: so it is in the list before it looks. */
static int wait_once(const uint32_t *word, uint32_t value, uint32_t bits, enum dispatcher_reason reason,
                     int64_t instant, const uintptr_t *to) {
    struct beneath_thread *self = thread_self();
    self->futex.bits = bits;
    append(self, word);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (__atomic_load_n(word, __ATOMIC_SEQ_CST) != value) {
        take_out(self);
        return EAGAIN;
    }
    int result = to ? thread_lend(to, reason, instant) : thread_wait(reason, instant);
    if (!self->futex.word)
        return 0;
    take_out(self);
    return result;
}

static long wait_looking(const uint32_t *word, uint32_t value, uint32_t bits, int64_t instant) {
    for (int64_t pause = LOOK_FIRST;; pause = pause < LOOK_LAST ? pause * 2 : pause) {
        int64_t soon = clock_now() + pause;
        int result = wait_once(word, value, bits, BLOCK_CONDITION, soon < instant ? soon : instant, NULL);
        if (result == EAGAIN && pause != LOOK_FIRST)
            return 0;
        if (result != ETIMEDOUT || soon >= instant)
            return -result;
    }
}

/* For a lock, if somebody is known to have it. */
static int wait_or_lend(const uint32_t *word, uint32_t value, uint32_t bits, enum dispatcher_reason otherwise,
                        int64_t instant) {
    struct owned *lock = owner_of(word, value);
    if (!lock)
        return wait_once(word, value, bits, otherwise, instant, NULL);
    int result = wait_once(word, value, bits, BLOCK_LOCK, instant, owner_name(lock));
    owner_forget(lock);
    return result;
}

static long wait(const uint32_t *word, int operation, uint32_t value, const struct timespec *time, uint32_t bits) {
    enum { LOCKED_WITH_WAITERS = 2 }; /* what the locks of NPTL wait with */
    bool alone = (operation & FUTEX_CMD_MASK) == FUTEX_WAIT;
    int64_t instant = DISPATCHER_FOREVER;
    if (bits == 0)
        return -EINVAL;
    if (time) {
        clockid_t clock = operation & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC;
        instant = alone ? instant_after(time) : instant_at(time, clock);
        if (instant < 0)
            return -EINVAL;
    }
    if (!(operation & FUTEX_PRIVATE_FLAG)) {
        if (!is_end_of_a_thread(word))
            return wait_looking(word, value, bits, instant);
        return -wait_once(word, value, bits, BLOCK_JOIN, instant, NULL);
    }
    bool locks = alone && value == LOCKED_WITH_WAITERS;
    return -wait_or_lend(word, value, bits, locks ? BLOCK_LOCK : BLOCK_CONDITION, instant);
}

/* ---- Waking ------------------------------------------------------------------------------------------------------ */

/* None of them runs before dispatcher_unblocked. */
static long wake_only(const uint32_t *word, long most, uint32_t bits) {
    long count = 0;
    struct beneath_thread *thread = lists[list_of(word)].first;
    while (count < most && (thread = waiting(thread, word, bits))) {
        struct beneath_thread *next = thread->futex.next;
        take_out(thread);
        dispatcher_unblock_only(&thread->member.dispatched);
        thread = next;
        count++;
    }
    return count;
}

static long wake(const struct call *call, const uint32_t *word, int operation, long most, uint32_t bits) {
    if (bits == 0)
        return -EINVAL;
    if (most <= 0)
        most = 1; /* as the kernel has it */
    struct beneath_thread *only = most == 1 && bits == FUTEX_BITSET_MATCH_ANY ? futex_take(word) : NULL;
    if (only) {
        if (!owner_passes(word, only))
            dispatcher_unblock(&only->member.dispatched); /* shorter than what is below */
        return 1;
    }
    long count = wake_only(word, most, bits);
    if (!(operation & FUTEX_PRIVATE_FLAG) && count < most) { /* those of other processes */
        long others = system_call_6(SYS_futex, call->first, call->second, most - count, 0, 0, call->sixth);
        count += others > 0 ? others : 0;
    }
    if (count > 0)
        dispatcher_unblocked();
    return count;
}

static long requeue(const uint32_t *word, long most, long limit, const uint32_t *other) {
    long count = wake_only(word, most, FUTEX_BITSET_MATCH_ANY), moved = 0;
    struct beneath_thread *thread = lists[list_of(word)].first;
    while (moved < limit && word != other && (thread = waiting(thread, word, FUTEX_BITSET_MATCH_ANY))) {
        struct beneath_thread *next = thread->futex.next;
        take_out(thread);
        append(thread, other);
        thread = next;
        moved++;
    }
    if (count > 0)
        dispatcher_unblocked();
    return count + moved;
}

/* The kernel's FUTEX_OP: what is done to the second word, and what it is compared with. */
static bool operate(uint32_t *word, uint32_t encoded, bool *holds) {
    unsigned operation = encoded >> 28 & 7, comparison = encoded >> 24 & 15;
    int argument = (int)(encoded << 8) >> 20, other = (int)(encoded << 20) >> 20;
    if (encoded >> 28 & FUTEX_OP_OPARG_SHIFT)
        argument = 1 << (argument & 31);
    uint32_t before, after, with = (uint32_t)argument;
    before = __atomic_load_n(word, __ATOMIC_SEQ_CST);
    do {
        switch (operation) {
        case FUTEX_OP_SET:
            after = with;
            break;
        case FUTEX_OP_ADD:
            after = before + with;
            break;
        case FUTEX_OP_OR:
            after = before | with;
            break;
        case FUTEX_OP_ANDN:
            after = before & ~with;
            break;
        case FUTEX_OP_XOR:
            after = before ^ with;
            break;
        default:
            return false;
        }
    } while (!__atomic_compare_exchange_n(word, &before, after, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
    int value = (int)before;
    switch (comparison) {
    case FUTEX_OP_CMP_EQ:
        *holds = value == other;
        return true;
    case FUTEX_OP_CMP_NE:
        *holds = value != other;
        return true;
    case FUTEX_OP_CMP_LT:
        *holds = value < other;
        return true;
    case FUTEX_OP_CMP_LE:
        *holds = value <= other;
        return true;
    case FUTEX_OP_CMP_GT:
        *holds = value > other;
        return true;
    case FUTEX_OP_CMP_GE:
        *holds = value >= other;
        return true;
    default:
        return false;
    }
}

static long wake_after(const uint32_t *word, long most, long limit, uint32_t *other, uint32_t encoded) {
    bool holds;
    if (!operate(other, encoded, &holds))
        return -ENOSYS;
    long count = wake_only(word, most, FUTEX_BITSET_MATCH_ANY);
    if (holds)
        count += wake_only(other, limit, FUTEX_BITSET_MATCH_ANY);
    if (count > 0)
        dispatcher_unblocked();
    return count;
}

/* ---- Priority inheritance: the word has the number of the thread that has the lock ------------------------------- */

/* Takes it if it is free. 0, EDEADLK, EAGAIN: another has it, which `value` names, and which knows that there are
 * waiters; ESRCH: that has ended. */
static int try_to_lock(uint32_t *word, uint32_t *value, bool waits) {
    uint32_t own = (uint32_t)thread_self()->number;
    *value = __atomic_load_n(word, __ATOMIC_SEQ_CST);
    for (;;) {
        uint32_t owner = *value & FUTEX_TID_MASK, wanted = *value | FUTEX_WAITERS;
        if (owner == own)
            return EDEADLK;
        if (owner == 0)
            wanted = own | (*value & (FUTEX_WAITERS | FUTEX_OWNER_DIED));
        else if (!waits || wanted == *value)
            break;
        if (!__atomic_compare_exchange_n(word, value, wanted, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
            continue;
        *value = wanted;
        if (owner == 0)
            return 0;
        break;
    }
    return thread_numbered((int)(*value & FUTEX_TID_MASK)) ? EAGAIN : ESRCH;
}

static bool is_mine(const uint32_t *word) {
    return (__atomic_load_n(word, __ATOMIC_SEQ_CST) & FUTEX_TID_MASK) == (uint32_t)thread_self()->number;
}

static long lock_inheriting(uint32_t *word, const struct timespec *time, clockid_t clock) {
    int64_t instant = time ? instant_at(time, clock) : DISPATCHER_FOREVER;
    if (instant < 0)
        return -EINVAL;
    for (;;) {
        uint32_t value;
        int error = try_to_lock(word, &value, true);
        if (error != EAGAIN)
            return -error;
        int result = wait_or_lend(word, value, FUTEX_BITSET_MATCH_ANY, BLOCK_LOCK, instant);
        if (is_mine(word)) /* it was passed on, perhaps at the last moment */
            return 0;
        if (result == ETIMEDOUT || result == EINTR)
            return -result;
    }
}

void futex_pass_on(uint32_t *word, uint32_t more) {
    struct beneath_thread *next = futex_take(word);
    bool others = next && waiting(lists[list_of(word)].first, word, FUTEX_BITSET_MATCH_ANY);
    uint32_t value = next ? (uint32_t)next->number | (others ? FUTEX_WAITERS : 0) : 0;
    __atomic_store_n(word, value | more, __ATOMIC_SEQ_CST);
    if (next && !owner_passes(word, next))
        dispatcher_unblock(&next->member.dispatched);
}

static long unlock_inheriting(uint32_t *word) {
    if (!is_mine(word))
        return -EPERM;
    futex_pass_on(word, 0);
    return 0;
}

static long perform(const struct call *call) {
    uint32_t *word = (uint32_t *)call->first, *other = (uint32_t *)call->fifth;
    int operation = (int)call->second;
    uint32_t value = (uint32_t)call->third, last = (uint32_t)call->sixth;
    const struct timespec *time = (const struct timespec *)call->fourth;
    long limit = call->fourth; /* the same register */
    switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
        return wait(word, operation, value, time, FUTEX_BITSET_MATCH_ANY);
    case FUTEX_WAIT_BITSET:
        return wait(word, operation, value, time, last);
    case FUTEX_WAKE:
        return wake(call, word, operation, (int)value, FUTEX_BITSET_MATCH_ANY);
    case FUTEX_WAKE_BITSET:
        return wake(call, word, operation, (int)value, last);
    case FUTEX_CMP_REQUEUE:
        if (__atomic_load_n(word, __ATOMIC_SEQ_CST) != last)
            return -EAGAIN;
        return requeue(word, (int)value, (int)limit, other);
    case FUTEX_REQUEUE:
        return requeue(word, (int)value, (int)limit, other);
    case FUTEX_WAKE_OP:
        return wake_after(word, (int)value, (int)limit, other, last);
    case FUTEX_LOCK_PI:
        return lock_inheriting(word, time, CLOCK_REALTIME);
    case FUTEX_LOCK_PI2:
        return lock_inheriting(word, time, operation & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC);
    case FUTEX_TRYLOCK_PI:
        return -try_to_lock(word, &last, false);
    case FUTEX_UNLOCK_PI:
        return unlock_inheriting(word);
    default:
        return -ENOSYS;
    }
}

/* Most wake nobody: then there is nothing to lock for. Processes that share the word ask the kernel. */
static bool wakes_nobody(const struct call *call) {
    int operation = (int)call->second, command = operation & FUTEX_CMD_MASK;
    if (!(operation & FUTEX_PRIVATE_FLAG) || command != FUTEX_WAKE)
        return false;
    __atomic_thread_fence(__ATOMIC_SEQ_CST); /* see wait_once */
    return !__atomic_load_n(&lists[list_of((const uint32_t *)call->first)].first, __ATOMIC_SEQ_CST);
}

long futex_call(const struct call *call) {
    if (wakes_nobody(call))
        return 0;
    dispatcher_enter();
    long result = perform(call);
    dispatcher_leave();
    return result;
}

enum again futex_again(const struct call *call) {
    switch ((int)call->second & FUTEX_CMD_MASK) {
    case FUTEX_LOCK_PI:
    case FUTEX_LOCK_PI2:
        return AGAIN_ALWAYS;
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
        return call->fourth == 0 ? AGAIN_IF_ALLOWED : AGAIN_NEVER;
    default:
        return AGAIN_NEVER;
    }
}
