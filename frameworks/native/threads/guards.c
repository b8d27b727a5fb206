/*
 * The guards of C++'s static variables of functions (Itanium C++ ABI, §3.3.3), in place of the C++ library's. To those
 * the kernel thread is what initializes: another of its threads would be taken for the same one, and its wait would
 * stop the processor. Only programs that have such variables are linked with this file.
 *
 *     byte 0       1: initialized; compilers look at it before they call
 *     bytes 1..7   0, or who initializes, and in which process: a child of fork begins anew what others had begun
 *
 * Kernel threads that run none of our threads may come, too. They, and threads that wait for one of them, look again
 * now and then.
 */
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "process/report.h"
#include "process/runtime.h"
#include "threads/waiters.h"

enum { LOOK_AGAIN = 1000000 }; /* nanoseconds */

enum {
    OWNER_AT = 8, /* bits: below is whether the variable is initialized */
    THREAD_AT = OWNER_AT,
    NUMBER_AT = THREAD_AT + 1,
    PROCESS_AT = 36
};
#define DONE UINT64_C(1)
_Static_assert((uint64_t)NAME_PLACES <= UINT64_C(1) << (PROCESS_AT - NUMBER_AT),
               "of threads that live each has its own");

int __cxa_guard_acquire(uint64_t *guard);
void __cxa_guard_release(uint64_t *guard), __cxa_guard_abort(uint64_t *guard);
static void await(uint64_t *guard, uint64_t owner, uint64_t self);
static void settle(uint64_t *guard, uint64_t outcome);

static struct catapults_waiters waiters; /* for any guard */

/* 2^28 generations of processes have different ones. */
static uint64_t process_here(void) { return runtime.forks << PROCESS_AT; }

static bool is_here(uint64_t owner) { return (owner ^ process_here()) >> PROCESS_AT == 0; }

/* For a thread: its place in the table of names, which no other has while it lives. */
static uint64_t name_here(void) {
    uint64_t number = here()->process.runs_threads ? name_place(member_self()->word) : (uint32_t)syscall(SYS_gettid);
    return process_here() | number << NUMBER_AT | (uint64_t)here()->process.runs_threads << THREAD_AT;
}

/* Returns whether the caller is to initialize the variable, and then call one of the others. */
int __cxa_guard_acquire(uint64_t *guard) {
    uint64_t self = name_here(), owner;
    while (!((owner = __atomic_load_n(guard, __ATOMIC_ACQUIRE)) & DONE))
        if (owner && is_here(owner))
            await(guard, owner, self);
        else if (__atomic_compare_exchange_n(guard, &owner, self, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return 1;
    return 0;
}

void __cxa_guard_release(uint64_t *guard) { settle(guard, DONE); }

void __cxa_guard_abort(uint64_t *guard) { settle(guard, 0); }

static void settle(uint64_t *guard, uint64_t outcome) {
    __atomic_store_n(guard, outcome, __ATOMIC_RELEASE);
    if (!here()->process.runs_threads)
        return;
    dispatcher_enter();
    if (waiters.first)
        waiters_serve_all(&waiters);
    dispatcher_leave();
}

static void await(uint64_t *guard, uint64_t owner, uint64_t self) {
    if (owner == self) {
        runtime_report("a static variable is needed for its own initialization");
        abort();
    }
    if (!here()->process.runs_threads) {
        nanosleep(&(struct timespec){0, LOOK_AGAIN}, NULL); /* however it ends, the caller looks again */
        return;
    }
    dispatcher_enter();
    int64_t instant = owner >> THREAD_AT & 1 ? CATAPULTS_FOREVER : catapults_now() + LOOK_AGAIN;
    if (__atomic_load_n(guard, __ATOMIC_RELAXED) == owner)
        waiters_wait(&waiters, handle_self(), BLOCK_CONDITION, instant);
    dispatcher_leave();
}
