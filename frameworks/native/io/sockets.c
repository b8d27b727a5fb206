/*
 * Sockets. Each call is tried at once, since that mostly succeeds. It waits when the kernel says EAGAIN, and tries
 * again only after the wait has said that the number still stands for the same descriptor.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>

#include "contexts/tools.h"
#include "io/io.h"

static ssize_t receive(int descriptor, void *buffer, size_t size, int flags, int64_t instant);
static bool is_stream(int descriptor);
static bool known_empty(int descriptor, int flags);
static int wait_for_data(int descriptor, void *buffer, size_t size, int flags, int64_t instant, bool *received);
static void note_received(int descriptor, size_t size, int flags, ssize_t received);
static void begin_anew(int descriptor, bool nonblocking);
static int make_nonblocking(int descriptor);
static int connect_in_time(int descriptor, const struct sockaddr *address, socklen_t length, int64_t instant);

ssize_t catapults_recv_until(int descriptor, void *buffer, size_t size, int flags, int64_t instant) {
    catapults_testcancel();
    bool all = (flags & MSG_WAITALL) && !(flags & MSG_PEEK);
    size_t done = 0;
    for (;;) {
        ssize_t received = receive(descriptor, (char *)buffer + done, size - done, flags & ~MSG_WAITALL, instant);
        if (received > 0)
            done += (size_t)received;
        if (received < 0 && (done == 0 || received == -EBADF))
            return io_failed((int)received);
        if (received <= 0 || !all || done >= size || !is_stream(descriptor))
            return (ssize_t)done;
    }
}

ssize_t catapults_send_until(int descriptor, const void *buffer, size_t size, int flags, int64_t instant) {
    catapults_testcancel();
    return io_result(io_send(descriptor, buffer, size, flags, instant));
}

ssize_t io_send(int descriptor, const void *buffer, size_t size, int flags, int64_t instant) {
    size_t done = 0;
    for (;;) {
        ssize_t sent = system_sendto(descriptor, (const char *)buffer + done, size - done,
                                     flags | MSG_DONTWAIT | MSG_NOSIGNAL, NULL, 0);
        if (sent >= 0) {
            done += (size_t)sent;
            if (done >= size || (flags & MSG_DONTWAIT))
                return (ssize_t)done;
        } else if (sent == -EINTR) {
            continue;
        } else if (sent != -EAGAIN || (flags & MSG_DONTWAIT)) {
            return done > 0 ? (ssize_t)done : sent;
        }
        int result = io_wait_ready(descriptor, POLLOUT, BLOCK_IO_WRITE, instant);
        if (result < 0)
            return done > 0 && result != -EBADF ? (ssize_t)done : result;
    }
}

ssize_t catapults_writev_until(int descriptor, const struct iovec *parts, int count, int64_t instant) {
    catapults_testcancel();
    struct iovec rest[IO_PARTS];
    struct msghdr message = {.msg_iov = (struct iovec *)parts, .msg_iovlen = count < 0 ? SIZE_MAX : (size_t)count};
    size_t done = 0;
    for (;;) {
        ssize_t sent = system_sendmsg(descriptor, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent >= 0) {
            done += (size_t)sent;
            message.msg_iov = rest;
            message.msg_iovlen = (size_t)io_parts_after(parts, count, done, rest);
            if (message.msg_iovlen == 0)
                return (ssize_t)done;
        } else if (sent == -EINTR) {
            continue;
        } else if (sent == -ENOTSOCK) {
            return io_write(descriptor, parts, count, -1, instant);
        } else if (sent == -EMSGSIZE && done == 0 && (count < 0 || count > IOV_MAX)) {
            return io_failed(-EINVAL); /* what writev says */
        } else if (sent != -EAGAIN) {
            return done > 0 ? (ssize_t)done : io_failed((int)sent);
        }
        if (sent >= 0 && message.msg_iovlen == IO_PARTS)
            continue; /* perhaps all that was offered was sent */
        int result = io_wait_ready(descriptor, POLLOUT, BLOCK_IO_WRITE, instant);
        if (result < 0)
            return done > 0 && result != -EBADF ? (ssize_t)done : io_failed(result);
    }
}

ssize_t catapults_sendfile_until(int socket, int file, off_t *offset, size_t size, int64_t instant) {
    catapults_testcancel();
    int result = make_nonblocking(socket);
    while (result >= 0) {
        ssize_t sent = system_sendfile(socket, file, offset, size);
        if (sent >= 0)
            return sent;
        if (sent == -EINTR)
            continue;
        if (sent != -EAGAIN)
            return io_failed((int)sent);
        result = io_wait_ready(socket, POLLOUT, BLOCK_IO_WRITE, instant);
    }
    return io_failed(result);
}

int catapults_accept(int descriptor, struct sockaddr *address, socklen_t *length, int flags) {
    catapults_testcancel();
    int result = make_nonblocking(descriptor);
    while (result >= 0) {
        int accepted = system_accept4(descriptor, address, length, flags);
        if (accepted >= 0) {
            begin_anew(accepted, flags & SOCK_NONBLOCK);
            return accepted;
        }
        if (accepted == -EINTR)
            continue;
        if (accepted != -EAGAIN)
            return io_failed(accepted);
        result = io_wait_ready(descriptor, POLLIN, BLOCK_IO_ACCEPT, CATAPULTS_FOREVER);
    }
    return io_failed(result);
}

int catapults_connect_until(int descriptor, const struct sockaddr *address, socklen_t length, int64_t instant) {
    catapults_testcancel();
    int flags = system_fcntl(descriptor, F_GETFL, 0);
    if (flags < 0)
        return io_failed(flags);
    bool blocks = !(flags & O_NONBLOCK);
    int result = blocks ? system_fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) : 0;
    if (result < 0)
        return io_failed(result);
    begin_anew(descriptor, false);
    result = connect_in_time(descriptor, address, length, instant);
    int restored = blocks && result != -EBADF ? system_fcntl(descriptor, F_SETFL, flags) : 0;
    if (result == 0)
        result = restored;
    return result < 0 ? io_failed(result) : 0;
}

int catapults_poll_until(int descriptor, short events, int64_t instant) {
    catapults_testcancel();
    if (descriptor < 0)
        return io_failed(-EBADF);
    enum dispatcher_reason reason = events & POLLIN ? BLOCK_IO_READ : BLOCK_IO_WRITE;
    for (bool expired = false;;) {
        struct pollfd one = {.fd = descriptor, .events = events};
        int found = io_poll(&one, 1);
        if (found > 0)
            return one.revents & POLLNVAL ? io_failed(-EBADF) : one.revents;
        if (found < 0 && found != -EINTR)
            return io_failed(found);
        if (expired)
            return io_failed(-ETIMEDOUT);
        int result = io_wait_ready(descriptor, events, reason, instant);
        if (io_is_inert(-result))
            result = io_wait_only(descriptor, reason, instant);
        expired = result == -ETIMEDOUT;
        if (result < 0 && !expired)
            return io_failed(result);
    }
}

/* As recv, for some bytes. Returns how many or a negative error number. */
static ssize_t receive(int descriptor, void *buffer, size_t size, int flags, int64_t instant) {
    const bool at_once = flags & (MSG_DONTWAIT | MSG_ERRQUEUE | MSG_OOB);
    for (bool expired = false;;) {
        if (at_once || expired || !known_empty(descriptor, flags)) {
            ssize_t received = system_recvfrom(descriptor, buffer, size, flags | MSG_DONTWAIT, NULL, NULL);
            note_received(descriptor, size, flags, received);
            if (received >= 0)
                return received;
            if (received == -EINTR)
                continue;
            if (received != -EAGAIN || at_once)
                return received;
            if (expired)
                return -ETIMEDOUT;
        }
        bool received = false;
        int result = wait_for_data(descriptor, buffer, size, flags, instant, &received);
        if (received) {
            note_received(descriptor, size, flags, result);
            return result;
        }
        expired = result == -ETIMEDOUT; /* one more look */
        if (result < 0 && !expired)
            return io_checked(result);
    }
}

/* MSG_WAITALL has no effect for a socket that keeps messages apart. */
static bool is_stream(int descriptor) {
    int type = 0;
    socklen_t size = sizeof type;
    return system_getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM;
}

/* Whether a try would be in vain: a server has mostly read the whole request, and the next one is not there yet. An
 * operation of the driver tries by itself, so a wrong guess costs only time. A wait for an edge would never end, so
 * there the answer must be certain: an edge that came between the last try and the note of what it found says so, too.
 */
static bool known_empty(int descriptor, int flags) {
    dispatcher_enter();
    const struct io_descriptor *state = io_descriptor(descriptor);
    bool empty = state != NULL && state->drained && flags == 0 &&
                 (io_driver->recv != NULL ||
                  (state->registered && state->drainable && !state->ended && !(state->came & POLLIN)));
    dispatcher_leave();
    return empty;
}

/* Waits until there is something to receive, or lets the driver receive it: sets *received, and the result is the
 * number of bytes. Else the result is that of io_wait_ready. */
static int wait_for_data(int descriptor, void *buffer, size_t size, int flags, int64_t instant, bool *received) {
    if (io_driver->recv != NULL) {
        struct io_wait wait;
        int result = io_wait_begin(&wait, descriptor);
        if (result == 0)
            result = io_wait_end(&wait, io_driver->recv(&wait, buffer, size, flags), BLOCK_IO_READ, instant);
        *received = result >= 0;
        if (*received)
            tools_written(buffer, (size_t)result < size ? (size_t)result : size);
        if (result == -ERESTART)
            return io_interrupted();
        if (result != -EAGAIN && result != -EINTR)
            return result;
    }
    return io_wait_ready(descriptor, POLLIN, BLOCK_IO_READ, instant);
}

static void note_received(int descriptor, size_t size, int flags, ssize_t received) {
    dispatcher_enter();
    struct io_descriptor *state = io_descriptor(descriptor);
    if (state != NULL)
        state->drained = (flags & ~MSG_DONTWAIT) == 0 && received > 0 && (size_t)received < size && !io_closing();
    dispatcher_leave();
}

/* The descriptor is new. What was known is of an earlier one of its number, which close(2) closed. */
static void begin_anew(int descriptor, bool nonblocking) {
    dispatcher_enter();
    struct io_descriptor *state = io_descriptor(descriptor);
    if (state != NULL && state->first == NULL)
        *state = (struct io_descriptor){.nonblocking = nonblocking};
    dispatcher_leave();
}

/* For the calls that have no MSG_DONTWAIT. Returns 0 or a negative error number. */
static int make_nonblocking(int descriptor) {
    dispatcher_enter();
    struct io_descriptor *state;
    int result = io_descriptor_add(descriptor, &state);
    if (result == 0 && !state->nonblocking) { /* once for each descriptor */
        int flags = system_fcntl(descriptor, F_GETFL, 0);
        result = flags < 0 || (flags & O_NONBLOCK) ? flags : system_fcntl(descriptor, F_SETFL, flags | O_NONBLOCK);
        if (result >= 0)
            state->nonblocking = !io_closing();
    }
    dispatcher_leave();
    return result;
}

/* Returns 0 or a negative error number. */
static int connect_in_time(int descriptor, const struct sockaddr *address, socklen_t length, int64_t instant) {
    int64_t pause = 1000000; /* ns */
    bool begun = false;
    for (;;) {
        int refusal = system_connect(descriptor, address, length);
        if (refusal == 0)
            return 0;
        if (refusal == -EAGAIN) {
            /* A Unix-domain listener whose queue is full. Nothing reports room: ask again, less and less often. */
            int64_t now = catapults_now();
            if (now >= instant)
                return -ETIMEDOUT;
            int64_t again = pause < instant - now ? now + pause : instant;
            int result = io_wait_only(descriptor, BLOCK_IO_CONNECT, again);
            if (result < 0 && result != -ETIMEDOUT)
                return result;
            pause = pause < 32000000 ? pause * 2 : pause;
        } else if (refusal == -EINPROGRESS || refusal == -EALREADY || refusal == -EINTR) {
            begun = true;
            int result = io_wait_ready(descriptor, POLLOUT, BLOCK_IO_CONNECT, instant);
            if (result < 0)
                return result;
            int error = 0;
            socklen_t size = sizeof error;
            result = system_getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size);
            if (result < 0 || error != 0)
                return result < 0 ? result : -error;
        } else {
            return refusal == -EISCONN && begun ? 0 : refusal;
        }
    }
}
