/*
 * The kernel is asked by one poll(2) for all threads that wait. Nothing is registered with it: so whatever the
 * application does with a descriptor's number, the next look is right.
 *
 * Of several processors, one sleeps in such a call, without the lock, while others look at once. When it wakes, it
 * looks anew at who waits.
 */
#include "beneath/descriptors.h"

#include <errno.h>
#include <stdatomic.h>

#include "beneath/arrived.h"
#include "beneath/elsewhere.h"
#include "beneath/instant.h"
#include "beneath/timers.h"
#include "contexts/memory.h"
#include "process/driver.h"
#include "process/kernel_threads.h"

static struct beneath_thread *first_waiting, *last_waiting;
static nfds_t wanted; /* descriptors that they wait for */

/* Room for each descriptor of each thread that waits. While the kernel has the first, `larger` waits to replace it. */
struct room {
    struct pollfd *first, *larger;
    nfds_t size, larger_size;
};
static struct room at_once, asleep;

/* The processor that sleeps without the lock, which sleep of all it is, and the signals that it blocks. */
static struct processor *_Atomic sleeper;
static _Atomic uint32_t sleeps;
static uint64_t sleeper_blocks;

static void delist(struct beneath_thread *thread) {
    struct beneath_thread *next = thread->descriptors.next, *previous = thread->descriptors.previous;
    *(previous ? &previous->descriptors.next : &first_waiting) = next;
    *(next ? &next->descriptors.previous : &last_waiting) = previous;
    wanted -= thread->descriptors.count;
    thread->descriptors.count = 0;
}

static bool make_room(struct room *room, nfds_t count) {
    if (count <= (room->larger ? room->larger_size : room->size))
        return true;
    struct pollfd *larger = memory_take(2 * count * sizeof *larger);
    if (!larger)
        return false;
    memory_give(room->larger);
    room->larger = larger;
    room->larger_size = 2 * count;
    return true;
}

bool descriptors_kick(void) {
    const struct processor *processor = atomic_load(&sleeper);
    if (processor)
        processors_interrupt(processor);
    return processor;
}

static void kick(void) { descriptors_kick(); }

void descriptors_open_for(uint64_t mask) {
    if (atomic_load(&sleeper) && (sleeper_blocks & ~mask))
        descriptors_kick();
}

long descriptors_look(struct pollfd *first, nfds_t count) {
    const struct timespec at_once = {0};
    const struct call call = {
        .number = SYS_ppoll, .first = (long)first, .second = (long)count, .third = (long)&at_once};
    return call_at_once(&call);
}

/* What has no handler would take effect there: so the caller waits until it no longer sleeps, which needs no lock. */
void descriptors_close(void) {
    uint32_t seen = atomic_load(&sleeps);
    if (!atomic_load(&sleeper) || !(arrived_blocked_by_all() & ~sleeper_blocks))
        return;
    descriptors_kick();
    while (atomic_load(&sleeper) && atomic_load(&sleeps) == seen)
        system_sched_yield();
}

/* Within dispatcher_enter. */
static long wait(struct pollfd *first, nfds_t count, enum dispatcher_reason reason, int64_t instant) {
    struct beneath_thread *self = thread_self();
    if (count == 0)
        return -thread_wait(reason, instant);
    if (!make_room(&at_once, wanted + count) || !make_room(&asleep, wanted + count))
        return -ENOMEM;
    self->descriptors.first = first;
    self->descriptors.count = count;
    self->descriptors.next = NULL;
    self->descriptors.previous = last_waiting;
    *(last_waiting ? &last_waiting->descriptors.next : &first_waiting) = self;
    last_waiting = self;
    wanted += count;
    descriptors_kick();
    int result = thread_wait(reason, instant);
    if (self->descriptors.count == 0)
        return 0;
    delist(self);
    return -result;
}

long descriptors_wait(struct pollfd *first, nfds_t count, enum dispatcher_reason reason, int64_t instant) {
    dispatcher_enter();
    long result = wait(first, count, reason, instant);
    dispatcher_leave();
    return result;
}

void descriptors_restart(void) {
    first_waiting = last_waiting = NULL;
    wanted = 0;
    atomic_store(&sleeper, NULL);
    /* The thread that has forked does not wait. */
}

/* ---- The driver -------------------------------------------------------------------------------------------------- */

static void gather(struct room *room) {
    if (room->larger) {
        memory_give(room->first);
        room->first = room->larger;
        room->size = room->larger_size;
        room->larger = NULL;
    }
    struct pollfd *next = room->first;
    for (struct beneath_thread *thread = first_waiting; thread; thread = thread->descriptors.next)
        for (nfds_t i = 0; i < thread->descriptors.count; i++)
            *next++ =
                (struct pollfd){.fd = thread->descriptors.first[i].fd, .events = thread->descriptors.first[i].events};
}

/* Those that wait are the same as when it was gathered. */
static void hand_out(const struct pollfd *found) {
    struct beneath_thread *next;
    /* Those that it unblocks run only after this. */
    for (struct beneath_thread *thread = first_waiting; thread; thread = next) {
        nfds_t count = thread->descriptors.count;
        next = thread->descriptors.next;
        short events = 0;
        for (nfds_t i = 0; i < count; i++)
            events |= found++->revents;
        if (!events)
            continue;
        delist(thread);
        if (core_is_blocked(&thread->member.dispatched)) /* else its instant has come */
            dispatcher_unblock(&thread->member.dispatched);
    }
}

/* At once. The kernel looks at no more than RLIMIT_NOFILE of them at a time. */
static long ask(struct pollfd *first, nfds_t count, const struct timespec *none) {
    long found = system_call(SYS_ppoll, (long)first, (long)count, (long)none, 0);
    if (found != -EINVAL || count < 2)
        return found;
    nfds_t half = count / 2;
    long one = ask(first, half, none), other = ask(first + half, count - half, none);
    return (one > 0 ? one : 0) + (other > 0 ? other : 0);
}

static void look(void) {
    const struct timespec none = {0};
    if (!first_waiting)
        return;
    gather(&at_once);
    if (ask(at_once.first, wanted, &none) > 0)
        hand_out(at_once.first);
}

static void sleep_until(int64_t instant) {
    enum { TOO_MANY = 1000000 }; /* nanoseconds between looks, if the kernel does not look at so many */
    struct timespec limit = {0}, *until = &limit;
    if (instant == DISPATCHER_FOREVER) {
        until = NULL;
    } else {
        int64_t left = instant - clock_now();
        if (left > 0)
            limit = (struct timespec){.tv_sec = left / SECOND, .tv_nsec = left % SECOND};
    }
    gather(&asleep);
    nfds_t count = wanted;
    /* Between the look at what has arrived and the sleep, nothing may. */
    uint64_t before = signal_mask(~UINT64_C(0)), mask = arrived_blocked_by_all();
    bool several = dispatcher_guard.several;
    if (several) { /* before it looks: who has something for it then tells it */
        sleeper_blocks = mask;
        atomic_fetch_add(&sleeps, 1);
        atomic_store(&sleeper, processor_here());
    }
    if (arrived_any(~mask) || elsewhere_any() || timers_any()) {
        limit = (struct timespec){0};
        until = &limit;
    }
    if (several)
        dispatcher_leave();
    long found = system_call_6(SYS_ppoll, (long)asleep.first, (long)count, (long)until, (long)&mask, SIGNALS_SIZE, 0);
    bool too_many = found == -EINVAL;
    if (too_many)
        system_nanosleep(TOO_MANY); /* it looks at them part by part */
    if (several) {
        atomic_store(&sleeper, NULL);
        signal_mask(before | here()->beneath.arrived); /* before the lock, whose owner may wait: see everywhere.c */
        dispatcher_enter();
        if (found > 0 || too_many)
            look();
    } else {
        signal_mask(before | here()->beneath.arrived);
        if (found > 0)
            hand_out(asleep.first);
        else if (too_many)
            look();
    }
}

static void poll_descriptors(int64_t instant) {
    if (instant <= 0) {
        look();
        arrived_let_in();
    } else {
        sleep_until(instant);
    }
    elsewhere_attend();
    timers_attend();
    if (arrived_any(~UINT64_C(0)))
        arrived_interrupt();
}

/* A signal may always come. */
static bool busy(void) { return dispatcher_first_thread() != NULL; }

int catapults_io_start(const char *choice, const char *without_ring, bool several) {
    static const struct dispatcher_driver driver = {.poll = poll_descriptors, .busy = busy, .kick = kick};
    (void)choice, (void)without_ring, (void)several; /* there is one way */
    dispatcher_set_driver(&driver);
    return 0;
}

void catapults_io_stop(void) {}
