/*
 * Reading, writing, accepting and connecting. A socket is asked not to wait. A pipe or a terminal is polled first, and
 * then given no more than it takes without waiting. Files on disks are the kernel's.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

#include "beneath/descriptors.h"
#include "beneath/elsewhere.h"
#include "beneath/instant.h"
#include "beneath/waits.h"

enum kind { KIND_KERNELS, KIND_SOCKET, KIND_STREAM };

static enum kind kind_of(int descriptor) {
    struct stat status;
    if (system_call(SYS_fstat, descriptor, (long)&status, 0, 0) < 0)
        return KIND_KERNELS; /* which says what is wrong */
    if (S_ISSOCK(status.st_mode))
        return KIND_SOCKET;
    /* What has no type is an eventfd, a timerfd or the like. */
    return S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode) || (status.st_mode & S_IFMT) == 0 ? KIND_STREAM
                                                                                                 : KIND_KERNELS;
}

static bool waits(int descriptor) {
    long flags = system_call(SYS_fcntl, descriptor, F_GETFL, 0, 0);
    return flags >= 0 && !(flags & O_NONBLOCK);
}

/* Until one of the events, or an error. 0 or -EINTR, -ENOMEM. */
static long wait_for(int descriptor, short events, enum dispatcher_reason reason) {
    struct pollfd one = {.fd = descriptor, .events = events};
    return descriptors_wait(&one, 1, reason, DISPATCHER_FOREVER);
}

static long when_ready(const struct call *call, short events, enum dispatcher_reason reason) {
    int descriptor = (int)call->first;
    for (;;) {
        struct pollfd one = {.fd = descriptor, .events = events};
        if (descriptors_look(&one, 1) != 0 || !waits(descriptor))
            return call_kernel(call);
        long result = wait_for(descriptor, events, reason);
        if (result < 0)
            return result;
    }
}

/* The same call of a socket, which does not wait. False: there is none. */
static bool without_waiting(const struct call *call, struct call *other, struct msghdr *message, bool *always) {
    *other = *call;
    *always = false;
    switch (call->number) {
    case SYS_read:
    case SYS_write:
        other->number = call->number == SYS_read ? SYS_recvfrom : SYS_sendto;
        other->fourth = MSG_DONTWAIT;
        other->fifth = other->sixth = 0;
        return call->number == SYS_write || call->third != 0;
    case SYS_readv:
    case SYS_writev:
        *message = (struct msghdr){.msg_iov = (struct iovec *)call->second, .msg_iovlen = (size_t)call->third};
        other->number = call->number == SYS_readv ? SYS_recvmsg : SYS_sendmsg;
        other->second = (long)message;
        other->third = MSG_DONTWAIT;
        return true;
    case SYS_recvfrom:
    case SYS_sendto:
        *always = call->fourth & MSG_DONTWAIT;
        other->fourth |= MSG_DONTWAIT;
        return true;
    case SYS_recvmsg:
    case SYS_sendmsg:
        *always = call->third & MSG_DONTWAIT;
        other->third |= MSG_DONTWAIT;
        return true;
    default:
        return false;
    }
}

static long on_socket(const struct call *call, short events, enum dispatcher_reason reason) {
    struct call at_once;
    struct msghdr message;
    bool never_waits;
    if (!without_waiting(call, &at_once, &message, &never_waits))
        return when_ready(call, events, reason);
    for (;;) {
        long result = call_kernel(&at_once);
        if (result != -EAGAIN || never_waits || !waits((int)call->first))
            return result;
        result = wait_for((int)call->first, events, reason);
        if (result < 0)
            return result;
    }
}

long transfer_read(const struct call *call) {
    switch (kind_of((int)call->first)) {
    case KIND_SOCKET:
        return on_socket(call, POLLIN, BLOCK_IO_READ);
    case KIND_STREAM:
        return when_ready(call, POLLIN, BLOCK_IO_READ);
    case KIND_KERNELS:
        break;
    }
    return call->number == SYS_read ? elsewhere_transfer(call) : call_kernel(call);
}

/* A call that waits until all is written is several that do not. */
static long write_all(const struct call *call, enum kind kind) {
    struct call rest = *call;
    long done = 0, size = call->third;
    for (;;) {
        rest.second = call->second + done;
        rest.third = size - done;
        if (kind == KIND_STREAM && rest.third > PIPE_BUF)
            rest.third = PIPE_BUF;
        long result = kind == KIND_SOCKET ? on_socket(&rest, POLLOUT, BLOCK_IO_WRITE)
                                          : when_ready(&rest, POLLOUT, BLOCK_IO_WRITE);
        if (result < 0)
            return done > 0 ? done : result;
        done += result;
        if (result == 0 || done >= size || (result < rest.third && !waits((int)call->first)))
            return done;
    }
}

long transfer_write(const struct call *call) {
    enum kind kind = kind_of((int)call->first);
    if (kind == KIND_KERNELS)
        return call_kernel(call); /* to memory, which is written later */
    if (call->number == SYS_write || call->number == SYS_sendto)
        return write_all(call, kind);
    if (kind == KIND_SOCKET)
        return on_socket(call, POLLOUT, BLOCK_IO_WRITE);
    /* The first part that is not empty: less than all may always be written. */
    const struct iovec *parts = (const struct iovec *)call->second;
    struct call first = {.number = SYS_write, .first = call->first};
    for (long i = 0; i < call->third && first.third == 0; i++) {
        first.second = (long)parts[i].iov_base;
        first.third = (long)parts[i].iov_len;
    }
    return write_all(&first, kind);
}

long transfer_message(const struct call *call) {
    const struct timespec none = {0}, *time = (const struct timespec *)call->fifth;
    short events = call->number == SYS_mq_timedsend ? POLLOUT : POLLIN;
    int64_t instant = time ? instant_at(time, CLOCK_REALTIME) : DISPATCHER_FOREVER;
    struct call at_once = *call;
    at_once.fifth = (long)&none;
    for (;;) {
        long result = call_kernel(&at_once);
        if (result != -ETIMEDOUT)
            return result;
        if (instant < 0)
            return -EINVAL;
        struct pollfd one = {.fd = (int)call->first, .events = events};
        result = descriptors_wait(&one, 1, events == POLLIN ? BLOCK_IO_READ : BLOCK_IO_WRITE, instant);
        if (result < 0)
            return result;
    }
}

long transfer_accept(const struct call *call) { return when_ready(call, POLLIN, BLOCK_IO_ACCEPT); }

long transfer_connect(const struct call *call) {
    int socket = (int)call->first;
    long flags = system_call(SYS_fcntl, socket, F_GETFL, 0, 0);
    if (flags < 0 || (flags & O_NONBLOCK))
        return call_kernel(call);
    system_call(SYS_fcntl, socket, F_SETFL, flags | O_NONBLOCK, 0); /* cannot fail, nor below: it is open */
    long result = call_kernel(call);
    while (result == -EINPROGRESS || result == -EALREADY || result == -EAGAIN) {
        bool begun = result != -EAGAIN; /* else the other side has no room in its queue yet */
        result = begun ? wait_for(socket, POLLOUT, BLOCK_IO_CONNECT)
                       : -thread_wait_alone(BLOCK_IO_CONNECT, instant_in(1000000));
        if (result == -EINTR || result == -ENOMEM)
            break;
        if (begun) {
            int error = 0;
            socklen_t length = sizeof error;
            result = system_call_6(SYS_getsockopt, socket, SOL_SOCKET, SO_ERROR, (long)&error, (long)&length, 0);
            result = result < 0 ? result : -error;
        } else {
            result = call_kernel(call);
        }
    }
    system_call(SYS_fcntl, socket, F_SETFL, flags, 0); /* see above */
    return result;
}
