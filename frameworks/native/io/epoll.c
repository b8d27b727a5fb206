/*
 * The driver that every kernel has. A descriptor is registered once, edge-triggered, for everything; an edge ends the
 * waits that it concerns. No edge is missed: callers try before they wait, and edges are read only in `poll`, when
 * nobody is in between.
 */
#include <errno.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "io/io.h"

#define BATCH 256 /* events per epoll_wait */

static int epoll = -1;

static void poll_epoll(int64_t instant);
static int wait_for_events(struct epoll_event *events, int64_t instant);
static int remember(int descriptor, struct io_descriptor *state);

static int start_epoll(void) {
    epoll = epoll_create1(EPOLL_CLOEXEC);
    return epoll >= 0 ? 0 : errno;
}

static void stop_epoll(void) {
    close(epoll);
    epoll = -1;
}

static int ready(struct io_wait *wait) {
    struct io_descriptor *state = io_descriptor(wait->descriptor);
    return state->registered ? 0 : remember(wait->descriptor, state);
}

static void cancel(struct io_wait *wait) { io_finish(wait, -ECANCELED); }

static void forget(int descriptor, struct io_descriptor *state) {
    /* Close would do it, unless the file is open under another number or in another process. */
    if (state->registered)
        epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, NULL);
}

const struct io_driver io_epoll_driver = {
    .name = "epoll",
    .start = start_epoll,
    .stop = stop_epoll,
    .dispatcher = {.poll = poll_epoll, .busy = io_waiting},
    .ready = ready,
    .cancel = cancel,
    .forget = forget,
};

static void poll_epoll(int64_t instant) {
    static struct epoll_event events[BATCH]; /* not on the stack of a thread, which may be small */
    int error = errno;                       /* of the thread that waits, in whose name this is */
    int count = wait_for_events(events, io_finished() ? 0 : instant);
    for (int i = 0; i < count; i++) {
        struct io_descriptor *state = io_descriptor(events[i].data.fd);
        uint32_t here = events[i].events;
        state->drained = false;
        if (here & (EPOLLRDHUP | EPOLLHUP | EPOLLERR | EPOLLPRI))
            state->ended = true;
        for (struct io_wait *wait = state->first; wait != NULL; wait = wait->next) {
            int found = (int)here & wait->events;
            if (!wait->done && found != 0)
                io_finish(wait, found);
        }
    }
    io_unblock_finished();
    errno = error;
}

static int wait_for_events(struct epoll_event *events, int64_t instant) {
    if (instant <= 0)
        return epoll_wait(epoll, events, BATCH, 0);
    if (instant == CATAPULTS_FOREVER)
        return epoll_wait(epoll, events, BATCH, -1);
    int64_t left = instant - catapults_now();
    if (left < 0)
        left = 0;
    struct timespec time = {.tv_sec = left / 1000000000, .tv_nsec = left % 1000000000};
    static bool only_milliseconds; /* before Linux 5.11 */
    if (!only_milliseconds) {
        int count = epoll_pwait2(epoll, events, BATCH, &time, NULL);
        if (count >= 0 || errno != ENOSYS)
            return count;
        only_milliseconds = true;
    }
    int64_t milliseconds = (left + 999999) / 1000000;
    return epoll_wait(epoll, events, BATCH, milliseconds < INT32_MAX ? (int)milliseconds : INT32_MAX);
}

static int remember(int descriptor, struct io_descriptor *state) {
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLPRI | EPOLLET, .data.fd = descriptor};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) != 0 && errno != EEXIST)
        return errno;
    int protocol = 0;
    socklen_t length = sizeof protocol;
    state->registered = true;
    state->drainable =
        getsockopt(descriptor, SOL_SOCKET, SO_PROTOCOL, &protocol, &length) == 0 && protocol == IPPROTO_TCP;
    return 0;
}
