/*
 * Catapults: calls that block the thread, never the processor. Part of catapults.h.
 */
#ifndef CATAPULTS_CALLS_H
#define CATAPULTS_CALLS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * As the system call on a blocking descriptor, whether the descriptor is blocking or not: reads return what there is;
 * writes and sends return when all has gone. They return -1 and set errno. EINTR comes only after a handler of
 * catapults_sigaction. `_until` returns ETIMEDOUT at the instant, or the number of bytes that had gone by then.
 *
 * - The runtime remembers descriptors: close those used here with catapults_close, and only others with close(2).
 *   Threads that wait on a closed one get EBADF. Before dup2(2) replaces a descriptor, close that with catapults_close.
 * - catapults_accept makes the listening socket O_NONBLOCK, catapults_sendfile_until the connected one. Nothing else of
 *   a descriptor is changed.
 * - catapults_init sets SIGPIPE to SIG_IGN, unless the application has chosen something else by then: a peer that is
 *   gone is EPIPE.
 * - ENOMEM: no memory to wait; nothing has been done.
 * - With epoll, waiting for a disk holds the processor: only io_uring reads, writes and syncs files by itself. With
 *   both, pages that catapults_sendfile_until reads from a disk hold it. With catapults_options.activations neither
 *   does.
 * - A child of fork(2) must not use these before it calls exec. A child of catapults_fork may, as its parent.
 */
ssize_t catapults_read(int descriptor, void *buffer, size_t size);
ssize_t catapults_write(int descriptor, const void *buffer, size_t size);
ssize_t catapults_pread(int descriptor, void *buffer, size_t size, off_t offset);
ssize_t catapults_pwrite(int descriptor, const void *buffer, size_t size, off_t offset);
int catapults_fsync(int descriptor);
int catapults_accept(int descriptor, struct sockaddr *address, socklen_t *length,
                     int flags); /* accept4; returns EMFILE, too */
/* After ETIMEDOUT the socket may still connect: close it. */
int catapults_connect_until(int descriptor, const struct sockaddr *address, socklen_t length, int64_t instant);
/* With MSG_DONTWAIT in `flags` these two never block: EAGAIN. A send sets MSG_NOSIGNAL by itself. */
ssize_t catapults_recv_until(int descriptor, void *buffer, size_t size, int flags, int64_t instant);
ssize_t catapults_send_until(int descriptor, const void *buffer, size_t size, int flags, int64_t instant);
ssize_t catapults_writev_until(int descriptor, const struct iovec *parts, int count, int64_t instant);
/* Sends at most `size` bytes; returns as soon as some have gone, like sendfile(2) on a non-blocking socket. 0: end of
 * the file. */
ssize_t catapults_sendfile_until(int socket, int file, off_t *offset, size_t size, int64_t instant);
/* Waits for POLLIN, POLLOUT…; returns what is there (> 0), or -1. */
int catapults_poll_until(int descriptor, short events, int64_t instant);
/* As close(2), for any descriptor. */
int catapults_close(int descriptor);

#ifdef __cplusplus
}
#endif
#endif
