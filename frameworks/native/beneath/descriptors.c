/*
 * The kernel is asked by one poll(2) for all threads that wait. Nothing is registered with it: so whatever the
 * application does with a descriptor's number, the next look is right.
 */
#include "beneath/descriptors.h"

#include <errno.h>

#include "beneath/arrived.h"
#include "beneath/instant.h"
#include "contexts/memory.h"
#include "process/driver.h"

static struct beneath_thread *first_waiting, *last_waiting;

/* One for each descriptor of each thread that waits. */
static struct pollfd *all;
static nfds_t wanted, room;

static void delist(struct beneath_thread *thread) {
    struct beneath_thread *next = thread->descriptors.next, *previous = thread->descriptors.previous;
    *(previous ? &previous->descriptors.next : &first_waiting) = next;
    *(next ? &next->descriptors.previous : &last_waiting) = previous;
    wanted -= thread->descriptors.count;
    thread->descriptors.count = 0;
}

static bool make_room(nfds_t count) {
    if (count <= room)
        return true;
    struct pollfd *larger = memory_take(2 * count * sizeof *larger);
    if (!larger)
        return false;
    memory_give(all);
    all = larger;
    room = 2 * count;
    return true;
}

long descriptors_look(struct pollfd *first, nfds_t count) {
    const struct timespec at_once = {0};
    const struct call call = {
        .number = SYS_ppoll, .first = (long)first, .second = (long)count, .third = (long)&at_once};
    return call_at_once(&call);
}

long descriptors_wait(struct pollfd *first, nfds_t count, enum dispatcher_reason reason, int64_t instant) {
    struct beneath_thread *self = thread_self();
    if (count == 0)
        return -thread_wait(reason, instant);
    if (!make_room(wanted + count))
        return -ENOMEM;
    self->descriptors.first = first;
    self->descriptors.count = count;
    self->descriptors.next = NULL;
    self->descriptors.previous = last_waiting;
    *(last_waiting ? &last_waiting->descriptors.next : &first_waiting) = self;
    last_waiting = self;
    wanted += count;
    int result = thread_wait(reason, instant);
    if (self->descriptors.count == 0)
        return 0;
    delist(self);
    return -result;
}

void descriptors_restart(void) {
    first_waiting = last_waiting = NULL;
    wanted = 0;
    /* The thread that has forked does not wait. */
}

/* ---- The driver -------------------------------------------------------------------------------------------------- */

static void gather(void) {
    struct pollfd *next = all;
    for (struct beneath_thread *thread = first_waiting; thread; thread = thread->descriptors.next)
        for (nfds_t i = 0; i < thread->descriptors.count; i++)
            *next++ =
                (struct pollfd){.fd = thread->descriptors.first[i].fd, .events = thread->descriptors.first[i].events};
}

static void hand_out(void) {
    const struct pollfd *found = all;
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

static void poll_descriptors(int64_t instant) {
    if (instant <= 0 && !first_waiting)
        return;
    struct timespec limit = {0}, *until = &limit;
    if (instant == DISPATCHER_FOREVER) {
        until = NULL;
    } else if (instant > 0) {
        int64_t left = instant - clock_now();
        if (left > 0)
            limit = (struct timespec){.tv_sec = left / SECOND, .tv_nsec = left % SECOND};
    }
    gather();
    if (instant <= 0) {
        if (system_call(SYS_ppoll, (long)all, (long)wanted, (long)until, 0) > 0)
            hand_out();
        return;
    }
    /* Between the look at what has arrived and the sleep, nothing may. */
    uint64_t before = here()->signals.mask, mask = arrived_blocked_by_all();
    signal_mask(~UINT64_C(0));
    if (here()->beneath.arrived & ~mask) {
        limit = (struct timespec){0};
        until = &limit;
    }
    long found = system_call_6(SYS_ppoll, (long)all, (long)wanted, (long)until, (long)&mask, SIGNALS_SIZE, 0);
    signal_mask(before);
    if (found > 0)
        hand_out();
    if (here()->beneath.arrived)
        arrived_interrupt();
}

/* A signal may always come. */
static bool busy(void) { return dispatcher_first_thread() != NULL; }

int catapults_io_start(const char *choice, const char *without_ring, bool several) {
    static const struct dispatcher_driver driver = {.poll = poll_descriptors, .busy = busy};
    (void)choice, (void)without_ring, (void)several; /* there is one way, and one processor */
    dispatcher_set_driver(&driver);
    return 0;
}

void catapults_io_stop(void) {}
