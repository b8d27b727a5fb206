/*
 * Blocking calls that block a thread and never the processor: what their files share.
 *
 *   sockets.c files.c     the calls of catapults.h: try at once, wait when the kernel says EAGAIN
 *   select.c              waiting for several things at once
 *   wait.c                a thread that waits for a descriptor; who waits for which; close
 *   uring.c epoll.c       the drivers: how the kernel tells that a wait is over
 *   start.c               which driver
 *
 * System calls are made outside of dispatcher_enter; the table of descriptors, the lists and the drivers are used
 * within.
 */
#ifndef CATAPULTS_IO_H
#define CATAPULTS_IO_H

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "catapults.h"
#include "contexts/system.h"
#include "dispatcher/dispatcher.h"
#include "process/driver.h"

/* In a child of fork: forgets the waits, and what the driver knew of descriptors. */
void io_forget_waits(void);

/* ---- Waiting ----------------------------------------------------------------------------------------------------- */

/*
 * A thread that waits for something to happen to a descriptor. It is on the stack of that thread, and in the
 * descriptor's list until the thread runs again. So a close also finds waits that are over but whose threads have not
 * run since: by then the number may be another file's.
 *
 *     struct io_wait wait;
 *     int result = io_wait_begin(&wait, descriptor);
 *     if (result == 0)
 *         result = io_wait_end(&wait, io_driver->fsync(&wait), BLOCK_IO_FILE, CATAPULTS_FOREVER);
 */
struct io_wait {
    struct io_wait *next, *previous;                   /* of the same descriptor */
    struct io_wait *finished_next, *finished_previous; /* finished waits whose threads are to be unblocked */
    struct dispatcher_thread *thread;                  /* NULL: it is no longer blocked */
    int descriptor;
    bool local;       /* the driver does not know of it: another thread finishes it, or its instant does */
    bool to_position; /* a local one that waits until no other operation moves the position of the file */
    bool done;        /* the kernel is finished with it, and `result` is set */
    bool closed;      /* the descriptor was closed; the wait has left its list */
    short events;     /* of a wait for readiness: POLLIN, POLLOUT…; else 0 */
    int result;       /* readiness: what is there (> 0); an operation: what its call returns; negative: error number */
};

/* Enters, and puts `wait` into the descriptor's list. 0; or -ENOMEM or -EBADF, having left again. */
int io_wait_begin(struct io_wait *wait, int descriptor);

/* Blocks the running thread until the driver finishes the wait; leaves. `started`: what the driver returned when it was
 * told; if it is an error number, nothing is waited for. Returns wait->result, -ETIMEDOUT at the instant, -ECANCELED if
 * the thread was cancelled, -ERESTART if it is to run handlers of signals (io_interrupted), or -EBADF after a close.
 * Afterwards the kernel touches nothing that belongs to the operation. */
int io_wait_end(struct io_wait *wait, int started, enum dispatcher_reason reason, int64_t instant);

/* The two halves of these for a thread that waits for several, and blocks in between by itself. Within
 * dispatcher_enter. If the driver does not know of the wait, `local` must be set before the second. */
int io_wait_enlist(struct io_wait *wait, int descriptor);
void io_wait_delist(struct io_wait *wait);

/* Waits until a descriptor is ready: returns what is there (> 0; perhaps only an end or an error), -ETIMEDOUT,
 * -ECANCELED, -EINTR, -EBADF, -ENOMEM. May return without cause, so the caller tries again. io_is_inert(-result): what
 * poll(2) says of this file never changes. */
int io_wait_ready(int descriptor, short events, enum dispatcher_reason reason, int64_t instant);

/* What the drivers say of a file on a disk, or a directory: epoll at once, io_uring when the wait is over. */
static inline bool io_is_inert(int error) { return error == EPERM || error == EINVAL; }

/* Waits for the instant, or for another thread to finish the wait: as io_wait_end, and -EINTR. 0 may come without
 * cause. */
int io_wait_only(int descriptor, enum dispatcher_reason reason, int64_t instant);

/* After -ERESTART: runs the handlers. Returns 0, if the call goes on, or -EINTR. */
int io_interrupted(void);

/* Ends the wait. Its thread is unblocked when the dispatcher next polls the driver: never in the middle of something,
 * where the policy might give the processor to it at once. */
void io_finish(struct io_wait *wait, int result);

/* After that, by a thread: a processor that sleeps in the driver wakes and unblocks whom it has ended. The caller's own
 * may not look for long. */
void io_tell(void);

/* For the drivers' `poll`, which does not sleep if io_finished, and unblocks at its end. */
bool io_finished(void);
void io_unblock_finished(void);

/* Whether any thread waits. */
bool io_waiting(void);

/* ---- Descriptors ------------------------------------------------------------------------------------------------- */

/* What is known of a descriptor that a call of ours has seen; all zero: nothing. Forgotten by catapults_close, but for
 * `file`. */
struct io_descriptor {
    struct io_wait *first, *last; /* that wait for it, in order of arrival */
    bool nonblocking;             /* O_NONBLOCK is set: accept4 and sendfile return at once */
    bool drained;                 /* the last recv took all there was, and nothing is known to have come since */
    bool moving;                  /* an operation that moves the file's position is under way */
    unsigned file;                /* another one after each close: which file of this number is meant */
    short came;                   /* epoll: events that nobody has waited for; kept for several processors */
    bool registered;              /* epoll: it reports this descriptor */
    bool drainable;               /* epoll: a recv that returns less than asked leaves a TCP socket without data… */
    bool ended;                   /* epoll: …but the end of the stream, an error or urgent data may still be there */
};

/* Whether a number may be another file's at any moment: then what is found out of a file now must not be kept. */
bool io_closing(void);
/* NULL: nothing is known. The pointer holds until the next io_descriptor_add, or until the caller leaves. */
struct io_descriptor *io_descriptor(int descriptor);
/* Makes room first if there is none. Returns 0, -ENOMEM, or -EBADF if the number is not open. */
int io_descriptor_add(int descriptor, struct io_descriptor **state);

/* ---- Drivers ----------------------------------------------------------------------------------------------------- */

struct io_driver {
    const char *name;
    int (*start)(bool several); /* processors; 0 or an error number */
    void (*stop)(void);
    struct dispatcher_driver dispatcher;

    /* Each is told of a wait and calls io_finish when it is over. Returns 0 or an error number. */
    int (*ready)(struct io_wait *wait);
    /* Operations that the kernel carries out by itself. NULL: this driver has none, and the call itself is made: for
     * sockets after `ready`; for files it holds the processor as long as the disk takes. `parts` outlives the wait. */
    int (*recv)(struct io_wait *wait, void *buffer, size_t size, int flags);
    int (*readv)(struct io_wait *wait, const struct iovec *parts, int count, off_t offset);
    int (*writev)(struct io_wait *wait, const struct iovec *parts, int count, off_t offset);
    int (*fsync)(struct io_wait *wait);

    /* Ends a wait before its time, with some result. */
    void (*cancel)(struct io_wait *wait);
    /* The descriptor is about to be closed; nobody waits for it. */
    void (*forget)(int descriptor, struct io_descriptor *state);
};

extern const struct io_driver io_uring_driver, io_epoll_driver;

/* The driver in use; NULL before catapults_io_start. */
extern const struct io_driver *io_driver;

/* ---- Between files.c and sockets.c ------------------------------------------------------------------------------- */

/* Writes all parts, at the file's position if `offset` is -1. As write(2) on a blocking descriptor. */
ssize_t io_write(int descriptor, const struct iovec *parts, int count, off_t offset, int64_t instant);

#define IO_PARTS 16

/* What is left of `parts` after its first `done` bytes: at most IO_PARTS go into `rest`. Returns how many. */
int io_parts_after(const struct iovec *parts, int count, size_t done, struct iovec *rest);

/* As send(2) on a blocking socket. Returns how many bytes or a negative error number. */
ssize_t io_send(int descriptor, const void *buffer, size_t size, int flags, int64_t instant);

/* What poll(2) says at once. Returns how many, or a negative error number. */
static inline int io_poll(struct pollfd *descriptors, nfds_t count) {
    struct timespec at_once = {0};
    return system_ppoll(descriptors, count, &at_once, NULL, 0);
}

/* -ECANCELED ends the thread if it was cancelled, so nothing may be left to put in order. Returns the argument. */
int io_checked(int negative);

/* Sets errno from a negative error number, which is checked like that. Returns -1. */
int io_failed(int negative);

/* What a call returns: the result, or -1 and errno if that is a negative error number. */
static inline ssize_t io_result(ssize_t result) { return result < 0 ? io_failed((int)result) : result; }

#endif
