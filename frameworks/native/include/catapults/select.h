/*
 * Catapults: waiting for any of several things. Part of catapults.h.
 *
 *     struct catapults_source sources[] = {catapults_source_descriptor(socket, POLLIN),
 *                                          catapults_source_port(&requests)};
 *     if (catapults_select(sources, 2, catapults_now() + 1000000000) > 0 && sources[1].happened)
 *         catapults_port_tryreceive(&requests, &message);
 */
#ifndef CATAPULTS_SELECT_H
#define CATAPULTS_SELECT_H

#include <poll.h>

#include "catapults/ports.h"
#include "catapults/threads.h"

#ifdef __cplusplus
extern "C" {
#endif

enum catapults_source_kind {
    CATAPULTS_SOURCE_DESCRIPTOR, /* some of `events`; also POLLERR, POLLHUP and POLLNVAL, as in poll(2) */
    CATAPULTS_SOURCE_INSTANT,    /* it has come */
    CATAPULTS_SOURCE_PORT,       /* there is something to receive, or it is closed */
    CATAPULTS_SOURCE_THREAD      /* it has ended, and can be joined without waiting */
};

struct catapults_source {
    enum catapults_source_kind kind;
    short events;   /* POLLIN, POLLOUT… */
    short happened; /* set by catapults_select: 0, or what has happened */
    union {
        int descriptor; /* negative: nothing ever happens */
        int64_t instant;
        catapults_port_t *port;
        catapults_t thread;
    } of;
};

static inline struct catapults_source catapults_source_descriptor(int descriptor, short events) {
    struct catapults_source source = {CATAPULTS_SOURCE_DESCRIPTOR, events, 0, {0}};
    source.of.descriptor = descriptor;
    return source;
}

static inline struct catapults_source catapults_source_instant(int64_t instant) {
    struct catapults_source source = {CATAPULTS_SOURCE_INSTANT, 0, 0, {0}};
    source.of.instant = instant;
    return source;
}

static inline struct catapults_source catapults_source_port(catapults_port_t *port) {
    struct catapults_source source = {CATAPULTS_SOURCE_PORT, 0, 0, {0}};
    source.of.port = port;
    return source;
}

static inline struct catapults_source catapults_source_thread(catapults_t thread) {
    struct catapults_source source = {CATAPULTS_SOURCE_THREAD, 0, 0, {0}};
    source.of.thread = thread;
    return source;
}

/* Waits until at least one of them has happened, and sets `happened` of each. Returns how many have; 0: none until the
 * instant. -1: errno is EINVAL (no such kind; a thread that is the caller, detached, joined by another, or given
 * twice), EBADF (catapults_close closed one meanwhile), EINTR (catapults/signals.h), or ENOMEM. It takes nothing:
 * another thread may be faster to receive what there is. */
int catapults_select(struct catapults_source *sources, size_t count, int64_t instant);

/* As poll(2), until an instant. */
int catapults_poll(struct pollfd *descriptors, nfds_t count, int64_t instant);

#ifdef __cplusplus
}
#endif
#endif
