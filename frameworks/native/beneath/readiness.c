/*
 * Waiting for several descriptors at once.
 */
#include <errno.h>
#include <linux/io_uring.h>
#include <sys/select.h>
#include <sys/time.h>

#include "beneath/arrived.h"
#include "beneath/descriptors.h"
#include "beneath/instant.h"
#include "beneath/waits.h"
#include "contexts/memory.h"

/* Blocks the signals of a call's mask while the thread waits. What has come for it comes with that mask. */
struct masked {
    const uint64_t *mask;
    uint64_t before;
};

static struct masked mask_begin(const uint64_t *mask) {
    struct masked masked = {.mask = mask, .before = thread_self()->signals.mask};
    arrived_mask_for_a_wait(mask);
    return masked;
}

static long mask_end(const struct masked *masked, long result) {
    if (!masked->mask)
        return result;
    if (result == -EINTR)
        arrived_leave();
    arrived_mask_again(&masked->before);
    return result;
}

static long poll_until(struct pollfd *first, nfds_t count, int64_t instant) {
    for (;;) {
        long found = descriptors_look(first, count);
        if (found != 0 || clock_now() >= instant)
            return found;
        long result = descriptors_wait(first, count, BLOCK_IO_READ, instant);
        if (result < 0 && result != -ETIMEDOUT)
            return result;
    }
}

static int64_t instant_of_milliseconds(long milliseconds) {
    return milliseconds < 0 ? DISPATCHER_FOREVER : milliseconds == 0 ? 0 : instant_in(milliseconds * 1000000);
}

long readiness_poll(const struct call *call) {
    struct pollfd *first = (struct pollfd *)call->first;
    nfds_t count = (nfds_t)call->second;
    if (call->number == SYS_poll)
        return poll_until(first, count, instant_of_milliseconds((int)call->third));
    const struct timespec *time = (const struct timespec *)call->third;
    int64_t instant = time ? instant_after(time) : DISPATCHER_FOREVER;
    if (instant < 0)
        return -EINVAL;
    struct masked masked = mask_begin((const uint64_t *)call->fourth);
    return mask_end(&masked, poll_until(first, count, instant));
}

long readiness_epoll(const struct call *call) {
    struct call at_once = *call;
    struct pollfd descriptor = {.fd = (int)call->first, .events = POLLIN};
    const struct timespec none = {0};
    int64_t instant;
    if (call->number == SYS_epoll_pwait2) {
        const struct timespec *time = (const struct timespec *)call->fourth;
        instant = time ? instant_after(time) : DISPATCHER_FOREVER;
        at_once.fourth = (long)&none;
    } else {
        instant = instant_of_milliseconds((int)call->fourth);
        at_once.fourth = 0;
    }
    const uint64_t *mask = call->number == SYS_epoll_wait ? NULL : (const uint64_t *)call->fifth;
    if (mask)
        at_once.fifth = 0;
    struct masked masked = mask_begin(mask);
    for (;;) {
        long result = call_at_once(&at_once);
        if (result != 0 || clock_now() >= instant)
            return mask_end(&masked, result);
        result = descriptors_wait(&descriptor, 1, BLOCK_IO_READ, instant);
        if (result < 0 && result != -ETIMEDOUT)
            return mask_end(&masked, result);
    }
}

/* ---- io_uring ---------------------------------------------------------------------------------------------------- */

/* A ring that has a result can be read, as far as poll(2) can tell. Of further ones nothing tells: who asks for several
 * gets what has come a moment later, perhaps less, as after a signal. */
static long wait_for_ring(int ring, long least, int64_t instant) {
    enum { MOMENT = 200000 }; /* nanoseconds */
    struct pollfd descriptor = {.fd = ring, .events = POLLIN};
    long found = poll_until(&descriptor, 1, instant);
    if (found <= 0)
        return found == 0 ? -ETIME : found;
    if (least > 1)
        thread_wait_alone(BLOCK_IO_FILE, instant_in(MOMENT)); /* however that ends, something is there */
    const struct call call = {
        .number = SYS_io_uring_enter, .first = ring, .third = 1, .fourth = IORING_ENTER_GETEVENTS};
    return call_at_once(&call);
}

/* The kernel submits without waiting. What it says of that is the result, if anything was submitted. */
long readiness_ring(const struct call *call) {
    unsigned flags = (unsigned)call->fourth;
    long least = (unsigned)call->third;
    if (!(flags & IORING_ENTER_GETEVENTS) || least == 0 || (flags & IORING_ENTER_REGISTERED_RING))
        return call_kernel(call); /* a ring that is no descriptor cannot be polled */
    bool extended = flags & IORING_ENTER_EXT_ARG;
    const struct io_uring_getevents_arg *given = extended ? (const struct io_uring_getevents_arg *)call->fifth : NULL;
    const struct timespec *time = given ? (const struct timespec *)(uintptr_t)given->ts : NULL;
    int64_t instant = time ? instant_after(time) : DISPATCHER_FOREVER;
    if (instant < 0 || (extended && (size_t)call->sixth < sizeof *given))
        return -EINVAL;
    long submitted = 0;
    if (call->second > 0) {
        const struct call submit = {.number = call->number,
                                    .first = call->first,
                                    .second = call->second,
                                    .fourth = flags & ~(unsigned)(IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG)};
        submitted = call_kernel(&submit);
        if (submitted < 0)
            return submitted;
    }
    struct masked masked = mask_begin((const uint64_t *)(given ? (uintptr_t)given->sigmask : (uintptr_t)call->fifth));
    long result = mask_end(&masked, wait_for_ring((int)call->first, least, instant));
    return submitted > 0 ? submitted : result;
}

/* ---- select ------------------------------------------------------------------------------------------------------ */

enum { SETS = 3, BITS = 64 };

static const short asked_for[SETS] = {POLLIN, POLLOUT, POLLPRI};
static const short found_for[SETS] = {POLLIN | POLLHUP | POLLERR, POLLOUT | POLLERR, POLLPRI};

static bool has(const uint64_t *set, int descriptor) {
    return set && (set[descriptor / BITS] >> descriptor % BITS & 1);
}

static nfds_t from_sets(uint64_t *const *sets, int limit, struct pollfd *to) {
    nfds_t count = 0;
    for (int descriptor = 0; descriptor < limit; descriptor++) {
        short events = 0;
        for (int i = 0; i < SETS; i++)
            if (has(sets[i], descriptor))
                events |= asked_for[i];
        if (events && to)
            to[count] = (struct pollfd){.fd = descriptor, .events = events};
        count += events != 0;
    }
    return count;
}

static long to_sets(uint64_t *const *sets, int limit, const struct pollfd *from, nfds_t count) {
    long found = 0;
    for (nfds_t at = 0; at < count; at++)
        if (from[at].revents & POLLNVAL)
            return -EBADF;
    for (int i = 0; i < SETS; i++)
        for (int word = 0; sets[i] && word < (limit + BITS - 1) / BITS; word++)
            sets[i][word] = 0;
    for (nfds_t at = 0; at < count; at++)
        for (int i = 0; i < SETS; i++)
            if ((from[at].events & asked_for[i]) && (from[at].revents & found_for[i])) {
                sets[i][from[at].fd / BITS] |= UINT64_C(1) << from[at].fd % BITS;
                found++;
            }
    return found;
}

static long select_until(uint64_t *const *sets, int limit, int64_t instant) {
    nfds_t count = from_sets(sets, limit, NULL);
    dispatcher_enter();
    struct pollfd *descriptors = memory_take((count + 1) * sizeof *descriptors);
    dispatcher_leave();
    if (!descriptors)
        return -ENOMEM;
    from_sets(sets, limit, descriptors);
    long result = poll_until(descriptors, count, instant);
    if (result >= 0)
        result = to_sets(sets, limit, descriptors, count);
    dispatcher_enter();
    memory_give(descriptors);
    dispatcher_leave();
    return result;
}

long readiness_select(const struct call *call) {
    uint64_t *const sets[SETS] = {(uint64_t *)call->second, (uint64_t *)call->third, (uint64_t *)call->fourth};
    int limit = (int)call->first;
    if (limit < 0)
        return -EINVAL;
    int64_t instant = DISPATCHER_FOREVER;
    struct timespec *left = NULL;
    if (call->number == SYS_select) {
        struct timeval *time = (struct timeval *)call->fifth;
        if (time && (time->tv_sec < 0 || time->tv_usec < 0))
            return -EINVAL;
        if (time) {
            struct timespec same = {.tv_sec = time->tv_sec + time->tv_usec / 1000000,
                                    .tv_nsec = time->tv_usec % 1000000 * 1000};
            instant = instant_after(&same);
        }
    } else if ((left = (struct timespec *)call->fifth)) {
        instant = instant_after(left);
        if (instant < 0)
            return -EINVAL;
    }
    /* pselect6 gives the mask with its size. */
    struct {
        const uint64_t *mask;
        size_t size;
    } const *given = call->number == SYS_pselect6 ? (const void *)call->sixth : NULL;
    struct masked masked = mask_begin(given ? given->mask : NULL);
    return mask_end(&masked, select_until(sets, limit, instant));
}
