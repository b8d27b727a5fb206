/*
 * The guards of C++'s static variables of functions (Itanium C++ ABI, §3.3.3), in the place of those of the C++
 * library, to which the kernel thread is what initializes: another of its threads that came would be taken for the same
 * one, and its wait would stop the processor. Only programs that have such variables are linked with this file.
 *
 *     byte 0       1: initialized; compilers look at it before they call
 *     bytes 4..7   0, or who initializes, and in which process: a child of fork begins anew what others had begun
 *
 * Kernel threads that run none of our threads may come, too: they, and who waits for one of them, look again now and
 * then.
 */
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "threads/runtime.h"
#include "threads/waiters.h"

enum { LOOK_AGAIN = 1000000 }; /* nanoseconds */

int __cxa_guard_acquire(uint64_t *guard);
void __cxa_guard_release(uint64_t *guard), __cxa_guard_abort(uint64_t *guard);
static void await(uint32_t *owner, uint32_t self);
static void give_up(uint64_t *guard);

static struct catapults_waiters waiters; /* for any guard */

static uint8_t *done(uint64_t *guard) { return (uint8_t *)guard; }
static uint32_t *owner_of(uint64_t *guard) { return (uint32_t *)guard + 1; }

/* The lowest bit tells threads from kernel threads, those above it the processes (runtime.forks). */
enum { KIND_BITS = 1, PROCESS_BITS = 5 };

static uint32_t process_here(void) { return runtime.forks % (1 << PROCESS_BITS) << KIND_BITS; }

static bool is_here(uint32_t owner) { return (owner & ((1 << PROCESS_BITS) - 1) << KIND_BITS) == process_here(); }

static uint32_t name_here(void) {
    uint32_t number = runtime_thread ? handle_self()->dispatched.policy.number : (uint32_t)syscall(SYS_gettid);
    return number << (KIND_BITS + PROCESS_BITS) | process_here() | runtime_thread;
}

/* Whether the caller is to initialize the variable, and then call one of the others. */
int __cxa_guard_acquire(uint64_t *guard) {
    uint32_t self = name_here();
    while (!__atomic_load_n(done(guard), __ATOMIC_ACQUIRE)) {
        uint32_t owner = __atomic_load_n(owner_of(guard), __ATOMIC_RELAXED);
        bool busy = owner != 0 && is_here(owner);
        if (busy ||
            !__atomic_compare_exchange_n(owner_of(guard), &owner, self, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
            if (busy)
                await(owner_of(guard), self);
            continue;
        }
        if (!__atomic_load_n(done(guard), __ATOMIC_RELAXED))
            return 1;
        give_up(guard); /* somebody has just been done with it */
    }
    return 0;
}

void __cxa_guard_release(uint64_t *guard) {
    __atomic_store_n(done(guard), 1, __ATOMIC_RELEASE);
    give_up(guard);
}

void __cxa_guard_abort(uint64_t *guard) { give_up(guard); }

static void give_up(uint64_t *guard) {
    __atomic_store_n(owner_of(guard), 0, __ATOMIC_RELEASE);
    if (!runtime_thread)
        return;
    dispatcher_enter();
    if (waiters.first)
        waiters_serve_all(&waiters);
    dispatcher_leave();
}

static void await(uint32_t *word, uint32_t self) {
    if (__atomic_load_n(word, __ATOMIC_RELAXED) == self) {
        runtime_report("a static variable is needed for its own initialization");
        abort();
    }
    if (!runtime_thread) {
        nanosleep(&(struct timespec){0, LOOK_AGAIN}, NULL);
        return;
    }
    dispatcher_enter();
    uint32_t owner = __atomic_load_n(word, __ATOMIC_RELAXED);
    int64_t instant = owner & 1 ? CATAPULTS_FOREVER : catapults_now() + LOOK_AGAIN;
    if (owner != 0)
        waiters_wait(&waiters, handle_self(), BLOCK_CONDITION, instant);
    dispatcher_leave();
}
