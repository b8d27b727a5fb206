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
 * As the system call on a blocking descriptor, whether the descriptor is blocking or not: reads return what there is,
 * writes and sends return when all has gone. They return -1 and set errno. EINTR comes after a handler
 * of catapults_sigaction only; `_until` gives ETIMEDOUT
 * at the instant, or the number of bytes that had gone by then.
 *
 * - Close with catapults_close what has been used here, or close(2) what no thread of ours used: the runtime remembers
 * descriptors. Threads that wait on it get EBADF.
 * - catapults_accept makes the listening socket O_NONBLOCK, catapults_sendfile_until the connected one; nothing else of
 * the descriptor is changed.
 * - catapults_init sets SIGPIPE to SIG_IGN, unless the application has chosen something else by then: a peer that is
 * gone is EPIPE.
 * - That includes dup2(2) onto a descriptor: close the one that it replaces with catapults_close first.
 * - ENOMEM: no memory to wait; nothing has been done.
 * - A disk that has to be waited for holds the processor with epoll: io_uring alone reads, writes and syncs files by
 * itself. So do, with either, pages that catapults_sendfile_until has to read from a disk. With
 * catapults_options.activations neither does.
 * - Not for a child of fork(2), before it calls exec; for one of catapults_fork as for its parent.
 */
ssize_t catapults_read(int descriptor, void *buffer, size_t size);
ssize_t catapults_write(int descriptor, const void *buffer, size_t size);
ssize_t catapults_pread(int descriptor, void *buffer, size_t size, off_t offset);
ssize_t catapults_pwrite(int descriptor, const void *buffer, size_t size, off_t offset);
int catapults_fsync(int descriptor);
int catapults_accept(int descriptor, struct sockaddr *address, socklen_t *length,
                     int flags); /* accept4; EMFILE as it comes */
/* After ETIMEDOUT the socket may still connect: close it. */
int catapults_connect_until(int descriptor, const struct sockaddr *address, socklen_t length, int64_t instant);
/* With MSG_DONTWAIT in `flags` these two never block: EAGAIN. A send says MSG_NOSIGNAL by itself. */
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
