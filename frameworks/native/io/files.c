/*
 * Files, pipes and all other descriptors. Each transfer is first tried without waiting (RWF_NOWAIT). If it must wait, a
 * file on a disk is left to the driver as an operation; everything else is waited for.
 */
#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "contexts/tools.h"
#include "io/io.h"

static ssize_t transfer(bool writing, int descriptor, const struct iovec *parts, int count, off_t offset,
                        int64_t instant);
static ssize_t transfer_disk(bool writing, int descriptor, const struct iovec *parts, int count, off_t offset);
static ssize_t transfer_at(bool writing, int descriptor, const struct iovec *parts, int count, off_t offset);
static ssize_t transfer_now(bool writing, int descriptor, const struct iovec *parts, int count, off_t offset);
static ssize_t transfer_in_turn(bool writing, int descriptor, const struct iovec *parts, int count);
static ssize_t transfer_by_driver(bool writing, int descriptor, const struct iovec *parts, int count, off_t offset);
static ssize_t transfer_ready(bool writing, int descriptor, const struct iovec *parts, int count);
static bool on_disk(int descriptor);
static bool is_moving(int descriptor);
static int take_position(int descriptor, unsigned *file);
static void give_position(int descriptor, unsigned file);

static ssize_t read_all(int descriptor, void *buffer, size_t size, off_t offset) {
    for (size_t done = 0;;) {
        struct iovec part = {(char *)buffer + done, size - done};
        off_t at = offset < 0 ? -1 : offset + (off_t)done;
        ssize_t count = transfer(false, descriptor, &part, 1, at, CATAPULTS_FOREVER);
        if (count < 0 && (done == 0 || count == -EBADF))
            return io_failed((int)count);
        if (count > 0)
            done += (size_t)count;
        /* Part of a file may have been in memory: its reader gets the whole. A pipe gives what it has. */
        if (count <= 0 || done == size || !on_disk(descriptor))
            return (ssize_t)done;
    }
}

ssize_t catapults_read(int descriptor, void *buffer, size_t size) {
    catapults_testcancel();
    return read_all(descriptor, buffer, size, -1);
}

ssize_t catapults_pread(int descriptor, void *buffer, size_t size, off_t offset) {
    catapults_testcancel();
    return offset < 0 ? io_failed(-EINVAL) : read_all(descriptor, buffer, size, offset);
}

ssize_t catapults_write(int descriptor, const void *buffer, size_t size) {
    catapults_testcancel();
    if (__builtin_expect(size == 0, 0)) { /* a datagram, on a datagram socket */
        ssize_t sent = io_send(descriptor, buffer, 0, 0, CATAPULTS_FOREVER);
        if (sent != -ENOTSOCK)
            return io_result(sent);
    }
    struct iovec part = {(void *)buffer, size};
    return io_write(descriptor, &part, 1, -1, CATAPULTS_FOREVER);
}

ssize_t catapults_pwrite(int descriptor, const void *buffer, size_t size, off_t offset) {
    catapults_testcancel();
    struct iovec part = {(void *)buffer, size};
    return offset < 0 ? io_failed(-EINVAL) : io_write(descriptor, &part, 1, offset, CATAPULTS_FOREVER);
}

int catapults_fsync(int descriptor) {
    catapults_testcancel();
    int result = -EAGAIN; /* the call itself is to be made */
    if (io_driver->fsync != NULL) {
        struct io_wait wait;
        result = io_wait_begin(&wait, descriptor);
        if (result == 0)
            result = io_wait_end(&wait, io_driver->fsync(&wait), BLOCK_IO_FILE, CATAPULTS_FOREVER);
    }
    if (result == -EAGAIN)
        result = system_fsync(descriptor);
    return result < 0 ? io_failed(result) : 0;
}

ssize_t io_write(int descriptor, const struct iovec *parts, int count, off_t offset, int64_t instant) {
    struct iovec rest[IO_PARTS];
    const struct iovec *now = parts;
    int now_count = count;
    for (size_t done = 0;;) {
        off_t at = offset < 0 ? -1 : offset + (off_t)done;
        ssize_t written = transfer(true, descriptor, now, now_count, at, instant);
        if (written < 0)
            return done > 0 && written != -EBADF ? (ssize_t)done : io_failed((int)written);
        done += (size_t)written;
        now = rest;
        now_count = io_parts_after(parts, count, done, rest);
        if (written == 0 || now_count == 0)
            return (ssize_t)done;
    }
}

int io_parts_after(const struct iovec *parts, int count, size_t done, struct iovec *rest) {
    int used = 0;
    for (int i = 0; i < count && used < IO_PARTS; i++) {
        if (done >= parts[i].iov_len) {
            done -= parts[i].iov_len;
            continue;
        }
        rest[used++] = (struct iovec){(char *)parts[i].iov_base + done, parts[i].iov_len - done};
        done = 0;
    }
    return used;
}

/* Transfers some bytes; blocks the thread until there are any. Returns their number or a negative error number. */
static ssize_t transfer(bool writing, int descriptor, const struct iovec *parts, int count, off_t offset,
                        int64_t instant) {
    if (offset < 0 && dispatcher_guard.several && io_driver->readv != NULL && on_disk(descriptor))
        return transfer_in_turn(writing, descriptor, parts, count);
    for (;;) {
        bool supported = true;
        if (offset >= 0 || !is_moving(descriptor)) {
            ssize_t moved = transfer_now(writing, descriptor, parts, count, offset);
            if (moved >= 0)
                return moved;
            if (moved == -EINTR)
                continue;
            if (moved != -EAGAIN && moved != -EOPNOTSUPP)
                return moved;
            supported = moved != -EOPNOTSUPP;
        }
        if (on_disk(descriptor))
            return transfer_disk(writing, descriptor, parts, count, offset);
        if (!supported && offset >= 0) /* pipes and sockets have no offsets: the call says so */
            return transfer_at(writing, descriptor, parts, count, offset);

        short events = writing ? POLLOUT : POLLIN;
        if (!supported) {
            struct pollfd one = {.fd = descriptor, .events = events};
            if (io_poll(&one, 1) > 0) {
                ssize_t moved = transfer_ready(writing, descriptor, parts, count);
                if (moved != -EAGAIN && moved != -EINTR)
                    return moved;
            }
        }
        int result = io_wait_ready(descriptor, events, writing ? BLOCK_IO_WRITE : BLOCK_IO_READ, instant);
        if (result < 0)
            return result;
    }
}

/* Does not wait. */
static ssize_t transfer_now(bool writing, int descriptor, const struct iovec *parts, int count, off_t offset) {
    return writing ? system_pwritev2(descriptor, parts, count, offset, 0, RWF_NOWAIT)
                   : system_preadv2(descriptor, parts, count, offset, 0, RWF_NOWAIT);
}

static ssize_t transfer_disk(bool writing, int descriptor, const struct iovec *parts, int count, off_t offset) {
    ssize_t result = -EAGAIN;
    if (io_driver->readv != NULL) {
        unsigned file;
        /* POSIX: if two move the position of one file, the second begins where the first has ended. */
        if (offset < 0 && (result = take_position(descriptor, &file)) < 0)
            return result;
        result = transfer_by_driver(writing, descriptor, parts, count, offset);
        if (offset < 0)
            give_position(descriptor, file);
    }
    /* The driver has no such operation, or the file refuses it. */
    return result == -EAGAIN || result == -EINTR ? transfer_at(writing, descriptor, parts, count, offset) : result;
}

/* On several processors, one could move the file's position by a call while the kernel does so for an operation. */
static ssize_t transfer_in_turn(bool writing, int descriptor, const struct iovec *parts, int count) {
    unsigned file;
    ssize_t result = take_position(descriptor, &file);
    if (result < 0)
        return result;
    do
        result = transfer_now(writing, descriptor, parts, count, -1);
    while (result == -EINTR);
    if (result == -EAGAIN || result == -EOPNOTSUPP)
        result = transfer_by_driver(writing, descriptor, parts, count, -1);
    if (result == -EAGAIN || result == -EINTR)
        result = transfer_at(writing, descriptor, parts, count, -1);
    give_position(descriptor, file);
    return result;
}

static ssize_t transfer_by_driver(bool writing, int descriptor, const struct iovec *parts, int count, off_t offset) {
    struct io_wait wait = {0};
    ssize_t result = io_wait_begin(&wait, descriptor);
    if (result == 0) {
        int started = (writing ? io_driver->writev : io_driver->readv)(&wait, parts, count, offset);
        result = io_wait_end(&wait, started, BLOCK_IO_FILE, CATAPULTS_FOREVER);
    }
    if (!writing && result > 0)
        tools_written(parts->iov_base, (size_t)result); /* reads have one part */
    return result;
}

/* Holds the processor as long as it takes. */
static ssize_t transfer_at(bool writing, int descriptor, const struct iovec *parts, int count, off_t offset) {
    ssize_t moved;
    do
        moved = offset < 0 ? (writing ? system_writev : system_readv)(descriptor, parts, count)
                           : (writing ? system_pwritev : system_preadv)(descriptor, parts, count, offset, 0);
    while (moved == -EINTR);
    return moved;
}

/* For a terminal, or a pipe before Linux 6.4: poll has reported something to read, or room for PIPE_BUF bytes. */
static ssize_t transfer_ready(bool writing, int descriptor, const struct iovec *parts, int count) {
    while (count > 1 && parts->iov_len == 0)
        parts++, count--;
    size_t size = parts->iov_len;
    if (writing && size > PIPE_BUF)
        size = PIPE_BUF;
    return writing ? system_write(descriptor, parts->iov_base, size) : system_read(descriptor, parts->iov_base, size);
}

static bool on_disk(int descriptor) {
    struct stat status;
    return system_fstat(descriptor, &status) == 0 && (S_ISREG(status.st_mode) || S_ISBLK(status.st_mode));
}

/* Whether an operation that moves the file's position is under way. */
static bool is_moving(int descriptor) {
    dispatcher_enter();
    const struct io_descriptor *state = io_descriptor(descriptor);
    bool moving = state != NULL && state->moving;
    dispatcher_leave();
    return moving;
}

/* Waits until no other operation moves the position of the file; *file says which file that was. Returns 0 or a
 * negative error number. Who finds it taken is in the line of waits before others go on: the one who gives it back
 * looks there, and only once. */
static int take_position(int descriptor, unsigned *file) {
    for (;;) {
        struct io_wait wait;
        dispatcher_enter();
        int result = io_wait_enlist(&wait, descriptor);
        if (result < 0) {
            dispatcher_leave();
            return result;
        }
        wait.local = wait.to_position = true;
        struct io_descriptor *state = io_descriptor(descriptor);
        if (!state->moving) {
            state->moving = true;
            *file = state->file;
            io_wait_delist(&wait);
            dispatcher_leave();
            return 0;
        }
        result = io_wait_end(&wait, 0, BLOCK_IO_FILE, CATAPULTS_FOREVER);
        if (result < 0)
            return result;
    }
}

/* All that wait for it try again, and the first to run takes it: one alone might be suspended, or never dispatched. The
 * number may be another file's by now, whose position others have taken. */
static void give_position(int descriptor, unsigned file) {
    dispatcher_enter();
    struct io_descriptor *state = io_descriptor(descriptor);
    if (state->file == file) {
        state->moving = false;
        for (struct io_wait *wait = state->first; wait != NULL; wait = wait->next)
            if (wait->to_position && !wait->done)
                io_finish(wait, 0);
        io_tell();
    }
    dispatcher_leave();
}
