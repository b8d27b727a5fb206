/*
 * System calls as sanitizers see them: by libc's functions, which they stand in for. So they check what the kernel
 * reads and writes, know what happens before what, and which handlers there are. In such a build these functions take
 * the place of those of system.S.
 */
#include "contexts/tools.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

#include <errno.h>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "contexts/system.h"

/* The runtime counts on it that no system call changes errno. */
#define CALL(type, name, parameters, call)                                                                             \
    type system_##name parameters {                                                                                    \
        int before = errno;                                                                                            \
        type result = call;                                                                                            \
        if ((long)result == -1)                                                                                        \
            result = (type)(long)-errno;                                                                               \
        errno = before;                                                                                                \
        return result;                                                                                                 \
    }

CALL(void *, mmap, (void *address, size_t size, long protection, long flags, long descriptor, off_t offset),
     mmap(address, size, (int)protection, (int)flags, (int)descriptor, offset))
CALL(void *, mremap, (void *address, size_t size, size_t new_size, long flags),
     mremap(address, size, new_size, (int)flags))
CALL(int, munmap, (void *address, size_t size), munmap(address, size))
CALL(int, mprotect, (void *address, size_t size, long protection), mprotect(address, size, (int)protection))
CALL(int, madvise, (void *address, size_t size, int advice), madvise(address, size, advice))
CALL(ssize_t, process_madvise, (int process, const struct iovec *ranges, size_t count, int advice, unsigned flags),
     process_madvise(process, ranges, count, advice, flags))
CALL(ssize_t, process_vm_readv,
     (pid_t process, const struct iovec *to, size_t to_count, const struct iovec *from, size_t from_count,
      unsigned long flags),
     process_vm_readv(process, to, to_count, from, from_count, flags))

CALL(int, openat, (int folder, const char *path, int flags, mode_t mode), openat(folder, path, flags, mode))
CALL(int, close, (int descriptor), close(descriptor))
CALL(ssize_t, read, (int descriptor, void *buffer, size_t size), read(descriptor, buffer, size))
CALL(ssize_t, write, (int descriptor, const void *buffer, size_t size), write(descriptor, buffer, size))
CALL(ssize_t, readv, (int descriptor, const struct iovec *parts, long count), readv(descriptor, parts, (int)count))
CALL(ssize_t, writev, (int descriptor, const struct iovec *parts, long count), writev(descriptor, parts, (int)count))
CALL(ssize_t, preadv, (int descriptor, const struct iovec *parts, long count, off_t offset, long none),
     ((void)none, preadv(descriptor, parts, (int)count, offset)))
CALL(ssize_t, pwritev, (int descriptor, const struct iovec *parts, long count, off_t offset, long none),
     ((void)none, pwritev(descriptor, parts, (int)count, offset)))
CALL(ssize_t, preadv2, (int descriptor, const struct iovec *parts, long count, off_t offset, long none, int flags),
     ((void)none, preadv2(descriptor, parts, (int)count, offset, flags)))
CALL(ssize_t, pwritev2, (int descriptor, const struct iovec *parts, long count, off_t offset, long none, int flags),
     ((void)none, pwritev2(descriptor, parts, (int)count, offset, flags)))
CALL(int, fstat, (int descriptor, struct stat *status), fstat(descriptor, status))
CALL(int, fsync, (int descriptor), fsync(descriptor))
CALL(int, fcntl, (int descriptor, int command, long argument), fcntl(descriptor, command, argument))
CALL(ssize_t, sendfile, (int socket, int file, off_t *offset, size_t size), sendfile(socket, file, offset, size))

CALL(ssize_t, recvfrom, (int socket, void *buffer, size_t size, int flags, struct sockaddr *from, socklen_t *length),
     recvfrom(socket, buffer, size, flags, from, length))
CALL(ssize_t, sendto,
     (int socket, const void *buffer, size_t size, int flags, const struct sockaddr *to, socklen_t length),
     sendto(socket, buffer, size, flags, to, length))
CALL(ssize_t, sendmsg, (int socket, const struct msghdr *message, int flags), sendmsg(socket, message, flags))
CALL(int, accept4, (int socket, struct sockaddr *address, socklen_t *length, int flags),
     accept4(socket, address, length, flags))
CALL(int, connect, (int socket, const struct sockaddr *address, socklen_t length), connect(socket, address, length))
CALL(int, getsockopt, (int socket, int level, int option, void *value, socklen_t *length),
     getsockopt(socket, level, option, value, length))

CALL(int, eventfd2, (unsigned count, int flags), eventfd(count, flags))
CALL(int, ppoll,
     (struct pollfd * descriptors, nfds_t count, const struct timespec *time, const uint64_t *mask, size_t mask_size),
     ((void)mask_size, ppoll(descriptors, count, time, (const sigset_t *)mask)))
CALL(int, epoll_create1, (int flags), epoll_create1(flags))
CALL(int, epoll_ctl, (int epoll, int operation, int descriptor, struct epoll_event *event),
     epoll_ctl(epoll, operation, descriptor, event))
CALL(int, epoll_pwait,
     (int epoll, struct epoll_event *events, int most, int milliseconds, const uint64_t *mask, size_t mask_size),
     ((void)mask_size, epoll_pwait(epoll, events, most, milliseconds, (const sigset_t *)mask)))
CALL(int, epoll_pwait2,
     (int epoll, struct epoll_event *events, int most, const struct timespec *time, const uint64_t *mask,
      size_t mask_size),
     ((void)mask_size, epoll_pwait2(epoll, events, most, time, (const sigset_t *)mask)))

CALL(int, sigaction, (int signal, const struct sigaction *action, struct sigaction *before_it),
     sigaction(signal, action, before_it))

#endif
