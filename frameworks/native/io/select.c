/*
 * Waits for any of several things. It looks at all; if nothing has happened yet, it tells each where to report, blocks
 * once, and looks again. What wakes the thread is only a hint.
 */
#include <errno.h>
#include <stdlib.h>

#include "io/io.h"
#include "threads/port.h"
#include "threads/waiters.h"

/* What stands for a source in its list while the thread waits. */
struct post {
    union {
        struct io_wait wait;
        struct {
            struct port_selector selector;
            struct catapults_handle *thread;
        } port;
    };
    bool posted;
    bool inert; /* poll(2) always says the same of this file, and has said nothing: nothing will happen */
};

/* One call. */
struct selection {
    struct catapults_source *sources;
    size_t count;
    struct post *posts;    /* one for each source */
    struct pollfd *polled; /* room for as many */
    struct catapults_handle *thread;
};

enum { FEW = 8 }; /* for which there is room on the stack */

static int check(const struct selection *selection);
static int look(struct selection *selection);
static int look_at_descriptors(struct selection *selection);
static bool has_happened(const struct catapults_source *source);
static int wait(struct selection *selection, int64_t instant);
static int post(struct selection *selection, size_t index);
static bool withdraw(struct selection *selection, size_t index);
static void port_is_ready_now(struct port_selector *selector);
static enum dispatcher_reason reason(const struct selection *selection);

static int select_with(struct selection *selection, int64_t instant) {
    int error = check(selection);
    for (size_t i = 0; i < selection->count; i++)
        selection->posts[i].inert = false;
    for (bool last = false; error == 0 || last;) {
        int found = look(selection);
        if (found != 0 || last)
            return found < 0 ? io_failed(found) : found;
        error = wait(selection, instant);
        if (error == ERESTART)
            error = signals_run(&selection->thread->member) == SIGNALS_NONE ? 0 : EINTR;
        last = error == ETIMEDOUT;
    }
    return io_failed(-error);
}

int catapults_select(struct catapults_source *sources, size_t count, int64_t instant) {
    catapults_testcancel();
    struct post posts[FEW];
    struct pollfd polled[FEW];
    struct selection selection = {sources, count, posts, polled, handle_self()};
    if (count <= FEW)
        return select_with(&selection, instant);
    void *memory = NULL;
    if (count <= SIZE_MAX / (sizeof *posts + sizeof *polled))
        memory = malloc(count * (sizeof *posts + sizeof *polled));
    if (memory == NULL)
        return io_failed(-ENOMEM);
    selection.posts = memory;
    selection.polled = (struct pollfd *)(selection.posts + count);
    int result;
    catapults_cleanup_push(free, memory);
    result = select_with(&selection, instant);
    catapults_cleanup_pop(1);
    return result;
}

int catapults_poll(struct pollfd *descriptors, nfds_t count, int64_t instant) {
    struct catapults_source few[FEW], *sources = few;
    if (count > FEW && (count > SIZE_MAX / sizeof *few || (sources = malloc(count * sizeof *few)) == NULL))
        return io_failed(-ENOMEM);
    for (nfds_t i = 0; i < count; i++)
        sources[i] = catapults_source_descriptor(descriptors[i].fd, descriptors[i].events);
    int result;
    catapults_cleanup_push(free, count > FEW ? sources : NULL);
    result = catapults_select(sources, count, instant);
    for (nfds_t i = 0; i < count && result >= 0; i++)
        descriptors[i].revents = sources[i].happened;
    catapults_cleanup_pop(1);
    return result;
}

/* 0 or an error number. */
static int check(const struct selection *selection) {
    for (size_t i = 0; i < selection->count; i++) {
        const struct catapults_source *source = &selection->sources[i];
        if ((unsigned)source->kind > CATAPULTS_SOURCE_THREAD)
            return EINVAL;
        if (source->kind != CATAPULTS_SOURCE_THREAD)
            continue;
        const struct catapults_handle *thread = source->of.thread;
        if (thread == selection->thread || thread->detached || thread->joiner)
            return EINVAL;
    }
    return 0;
}

/* How many have happened, or a negative error number. */
static int look(struct selection *selection) {
    int found = look_at_descriptors(selection);
    if (found < 0)
        return found;
    dispatcher_enter();
    for (size_t i = 0; i < selection->count; i++) {
        struct catapults_source *source = &selection->sources[i];
        if (source->kind == CATAPULTS_SOURCE_DESCRIPTOR)
            continue;
        source->happened = has_happened(source);
        found += source->happened;
    }
    dispatcher_leave();
    return found;
}

static int look_at_descriptors(struct selection *selection) {
    nfds_t count = 0;
    for (size_t i = 0; i < selection->count; i++) {
        const struct catapults_source *source = &selection->sources[i];
        if (source->kind == CATAPULTS_SOURCE_DESCRIPTOR)
            selection->polled[count++] = (struct pollfd){.fd = source->of.descriptor, .events = source->events};
    }
    int found = 0;
    do
        found = count > 0 ? io_poll(selection->polled, count) : 0;
    while (found == -EINTR);
    if (found < 0)
        return found;
    const struct pollfd *polled = selection->polled;
    for (size_t i = 0; i < selection->count; i++)
        if (selection->sources[i].kind == CATAPULTS_SOURCE_DESCRIPTOR)
            selection->sources[i].happened = polled++->revents;
    return found;
}

/* For all but descriptors. */
static bool has_happened(const struct catapults_source *source) {
    switch (source->kind) {
    case CATAPULTS_SOURCE_DESCRIPTOR:
        return false;
    case CATAPULTS_SOURCE_INSTANT:
        return source->of.instant <= catapults_now();
    case CATAPULTS_SOURCE_PORT:
        return port_is_ready(source->of.port);
    case CATAPULTS_SOURCE_THREAD:
        return source->of.thread->ended;
    }
    __builtin_unreachable();
}

/* Waits until something may have happened: 0; or ETIMEDOUT, ECANCELED, ERESTART, EBADF, EINVAL, ENOMEM. */
static int wait(struct selection *selection, int64_t instant) {
    bool expires = true; /* at the instant of the call; false: at that of a source */
    int error = 0;
    size_t posted = 0;
    dispatcher_enter();
    selection->thread->selects = selection;
    for (; posted < selection->count && error == 0; posted++) {
        const struct catapults_source *source = &selection->sources[posted];
        selection->posts[posted].posted = false;
        error = has_happened(source) ? EAGAIN : post(selection, posted);
        if (source->kind == CATAPULTS_SOURCE_INSTANT && source->of.instant < instant) {
            instant = source->of.instant;
            expires = false;
        }
    }
    if (error == 0) {
        error = waiters_sleep_or_cancel(selection->thread, reason(selection), instant);
        if (error == ETIMEDOUT && !expires)
            error = 0;
    }
    while (posted > 0)
        if (withdraw(selection, --posted))
            error = EBADF;
    selection->thread->selects = NULL;
    dispatcher_leave();
    return error == EAGAIN ? 0 : error;
}

/* No other thread runs until all posts are made, nor while they are withdrawn. */
void io_forget_selection(const struct selection *selection) {
    for (size_t i = 0; i < selection->count; i++)
        if (selection->posts[i].posted && selection->sources[i].kind == CATAPULTS_SOURCE_PORT)
            port_unwatch(selection->sources[i].of.port, &selection->posts[i].port.selector);
}

/* 0; EAGAIN: look at once; EINVAL, ENOMEM. */
static int post(struct selection *selection, size_t index) {
    const struct catapults_source *source = &selection->sources[index];
    struct post *post = &selection->posts[index];
    int error = 0;
    switch (source->kind) {
    case CATAPULTS_SOURCE_DESCRIPTOR:
        if (source->of.descriptor < 0)
            break;
        error = -io_wait_enlist(&post->wait, source->of.descriptor);
        if (error != 0)
            break;
        post->posted = true;
        post->wait.events = source->events | POLLERR | POLLHUP;
        error = post->inert ? EPERM : io_driver->ready(&post->wait);
        if (error != 0) {
            post->wait.local = true; /* the driver does not know the wait */
            post->inert = io_is_inert(error);
            error = post->inert ? 0 : error == ENOMEM ? ENOMEM : EAGAIN;
        }
        break;
    case CATAPULTS_SOURCE_INSTANT:
        break;
    case CATAPULTS_SOURCE_PORT:
        post->port.selector.ready = port_is_ready_now;
        post->port.thread = selection->thread;
        port_watch(source->of.port, &post->port.selector);
        post->posted = true;
        break;
    case CATAPULTS_SOURCE_THREAD:
        if (source->of.thread->detached || source->of.thread->joiner)
            return EINVAL;
        source->of.thread->joiner = selection->thread;
        post->posted = true;
        break;
    }
    return error;
}

/* True: the descriptor was closed meanwhile, and its number may be another file's. */
static bool withdraw(struct selection *selection, size_t index) {
    const struct catapults_source *source = &selection->sources[index];
    struct post *post = &selection->posts[index];
    if (!post->posted)
        return false;
    switch (source->kind) {
    case CATAPULTS_SOURCE_DESCRIPTOR:
        if (post->wait.done && io_is_inert(-post->wait.result))
            post->inert = true;
        io_wait_delist(&post->wait);
        return post->wait.closed;
    case CATAPULTS_SOURCE_INSTANT:
        break;
    case CATAPULTS_SOURCE_PORT:
        port_unwatch(source->of.port, &post->port.selector);
        break;
    case CATAPULTS_SOURCE_THREAD:
        source->of.thread->joiner = NULL;
        break;
    }
    return false;
}

static void port_is_ready_now(struct port_selector *selector) {
    struct post *post = (struct post *)((char *)selector - offsetof(struct post, port.selector));
    if (waiters_may_wake(post->port.thread))
        dispatcher_unblock_only(&post->port.thread->member.dispatched);
}

/* What the policy is told: a descriptor, if there is one; else a port; else a thread; else an instant. */
static enum dispatcher_reason reason(const struct selection *selection) {
    enum dispatcher_reason reason = BLOCK_SLEEP;
    for (size_t i = 0; i < selection->count; i++) {
        const struct catapults_source *source = &selection->sources[i];
        if (source->kind == CATAPULTS_SOURCE_DESCRIPTOR)
            return source->events & POLLIN || !(source->events & POLLOUT) ? BLOCK_IO_READ : BLOCK_IO_WRITE;
        if (source->kind == CATAPULTS_SOURCE_PORT)
            reason = BLOCK_PORT;
        else if (source->kind == CATAPULTS_SOURCE_THREAD && reason == BLOCK_SLEEP)
            reason = BLOCK_JOIN;
    }
    return reason;
}
