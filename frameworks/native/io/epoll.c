/*
 * The driver that every kernel has. Each descriptor is registered once, edge-triggered, for everything. An edge ends
 * the waits that it concerns. No edge is missed: callers try before they wait, and only `poll` reads edges, when no
 * thread is between the two. A thread may be there on another processor, or because it was interrupted there: then what
 * came is kept for the next wait.
 */
#include <errno.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>

#include "io/io.h"

#define BATCH 256 /* events per epoll_wait */

static int epoll = -1;
static int kicks = -1; /* an eventfd that ends the sleep of another processor; -1: there is none */

static void poll_epoll(int64_t instant);
static int wait_for_events(struct epoll_event *events, int64_t instant);
static void stop_epoll(void);
static int start_kicks(void);
static int sleep_until(struct epoll_event *events, int64_t instant);
static int remember(int descriptor, struct io_descriptor *state);

static int start_epoll(bool several) {
    epoll = system_epoll_create1(EPOLL_CLOEXEC);
    if (epoll < 0)
        return -epoll;
    int error = several ? start_kicks() : 0; /* before any sleep: a kick may come first */
    if (error)
        stop_epoll();
    return error;
}

static void stop_epoll(void) {
    system_close(epoll); /* Linux closes it, whatever it says */
    if (kicks >= 0)
        system_close(kicks); /* as above */
    epoll = kicks = -1;
}

static int ready(struct io_wait *wait) {
    struct io_descriptor *state = io_descriptor(wait->descriptor);
    int came = state->came & wait->events;
    state->came &= (short)~wait->events;
    if (came & POLLIN)
        state->drained = false;
    if (came)
        io_finish(wait, came); /* perhaps before the caller has tried: it tries again */
    return state->registered ? 0 : remember(wait->descriptor, state);
}

/* Called in handlers of signals too, which tools must not put off. */
static TOOLS_UNSEEN void kick(void) {
    uint64_t one = 1;
    system_call(SYS_write, kicks, (long)&one, sizeof one, 0); /* if not, it is full of kicks, and one is enough */
}

static void cancel(struct io_wait *wait) { io_finish(wait, -ECANCELED); }

static void forget(int descriptor, struct io_descriptor *state) {
    /* close() would do it, unless the file is open under another number or in another process. */
    if (state->registered)
        system_epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, NULL); /* ENOENT, EBADF: already forgotten */
}

const struct io_driver io_epoll_driver = {
    .name = "epoll",
    .start = start_epoll,
    .stop = stop_epoll,
    .dispatcher = {.poll = poll_epoll, .busy = io_waiting, .kick = kick},
    .ready = ready,
    .cancel = cancel,
    .forget = forget,
};

static void poll_epoll(int64_t instant) {
    static struct epoll_event events[BATCH]; /* not on the stack of a thread, which may be small */
    bool shared = dispatcher_guard.guarded;
    int count = 0;
    if (instant >= 0)
        count = wait_for_events(events, io_finished() ? 0 : instant);
    for (int i = 0; i < count; i++) {
        if (events[i].data.fd == kicks && kicks >= 0)
            continue;
        struct io_descriptor *state = io_descriptor(events[i].data.fd);
        uint32_t here = events[i].events;
        state->drained = false;
        if (shared)
            state->came |= (short)here;
        if (here & (EPOLLRDHUP | EPOLLHUP | EPOLLERR | EPOLLPRI))
            state->ended = true;
        for (struct io_wait *wait = state->first; wait != NULL; wait = wait->next) {
            int found = (int)here & wait->events;
            if (!wait->done && found != 0)
                io_finish(wait, found);
        }
    }
    io_unblock_finished();
}

static int wait_for_events(struct epoll_event *events, int64_t instant) {
    if (instant <= 0)
        return system_epoll_pwait(epoll, events, BATCH, 0, NULL, 0);
    if (dispatcher_guard.several) {
        dispatcher_leave();
        int count = sleep_until(events, instant);
        dispatcher_enter();
        return count;
    }
    return sleep_until(events, instant);
}

static int start_kicks(void) {
    kicks = system_eventfd2(0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.fd = kicks};
    return kicks < 0 ? -kicks : -system_epoll_ctl(epoll, EPOLL_CTL_ADD, kicks, &event);
}

static int sleep_until(struct epoll_event *events, int64_t instant) {
    if (instant == CATAPULTS_FOREVER)
        return system_epoll_pwait(epoll, events, BATCH, -1, NULL, 0);
    int64_t left = instant - catapults_now();
    if (left < 0)
        left = 0;
    struct timespec time = {.tv_sec = left / 1000000000, .tv_nsec = left % 1000000000};
    static bool only_milliseconds; /* before Linux 5.11 */
    if (!only_milliseconds) {
        int count = system_epoll_pwait2(epoll, events, BATCH, &time, NULL, 0);
        if (count != -ENOSYS)
            return count;
        only_milliseconds = true;
    }
    int64_t milliseconds = (left + 999999) / 1000000;
    return system_epoll_pwait(epoll, events, BATCH, milliseconds < INT32_MAX ? (int)milliseconds : INT32_MAX, NULL, 0);
}

static int remember(int descriptor, struct io_descriptor *state) {
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLPRI | EPOLLET, .data.fd = descriptor};
    /* EEXIST: it is registered, but what was known of it was forgotten. MOD reports anew what has come for it. */
    int error = -system_epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event);
    if (error == EEXIST)
        error = -system_epoll_ctl(epoll, EPOLL_CTL_MOD, descriptor, &event);
    if (error)
        return error;
    int protocol = 0;
    socklen_t length = sizeof protocol;
    state->registered = true;
    state->drainable =
        system_getsockopt(descriptor, SOL_SOCKET, SO_PROTOCOL, &protocol, &length) == 0 && protocol == IPPROTO_TCP;
    return 0;
}
