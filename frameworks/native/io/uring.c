/*
 * The driver on io_uring. Waits and operations are entries of the submission ring; they are submitted when the
 * dispatcher has nothing better to do, so that one system call begins many and collects many.
 */
#include <errno.h>
#include <liburing.h>
#include <string.h>

#include "io/io.h"
#include "threads/signals.h"

#define ENTRIES 1024     /* of the submission ring; a full one is submitted */
#define COMPLETIONS 4096 /* what does not fit the kernel keeps for later (IORING_FEAT_NODROP) */

static struct io_uring ring;
static bool poll_first; /* recv can be told that there is nothing yet */

static void poll_uring(int64_t instant);
static void enter(void);
static void reap(void);
static struct io_uring_sqe *entry(void);
static bool operations_supported(void);

static int start_uring(void) {
    /* The best that the kernel has: completions are prepared only when we ask for them (6.1); without interrupting us
     * (5.19). */
    static const unsigned modes[] = {
        IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_TASKRUN_FLAG,
        IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG,
        0,
    };
    int error = EINVAL;
    for (size_t i = 0; i < sizeof modes / sizeof *modes && error == EINVAL; i++) {
        struct io_uring_params parameters = {.flags = modes[i] | IORING_SETUP_CQSIZE, .cq_entries = COMPLETIONS};
        error = -io_uring_queue_init_params(ENTRIES, &ring, &parameters);
        poll_first = i == 0;
        const unsigned needed =
            IORING_FEAT_NODROP | IORING_FEAT_FAST_POLL | IORING_FEAT_EXT_ARG | IORING_FEAT_RW_CUR_POS;
        if (error == 0 && ((parameters.features & needed) != needed || !operations_supported())) {
            io_uring_queue_exit(&ring);
            return ENOSYS;
        }
    }
    if (error == 0)
        io_uring_register_ring_fd(&ring); /* spares the kernel a look-up per system call; works as well without */
    return error;
}

static void stop_uring(void) { io_uring_queue_exit(&ring); }

static int ready(struct io_wait *wait) {
    struct io_uring_sqe *sqe = entry();
    io_uring_prep_poll_add(sqe, wait->descriptor, (unsigned short)wait->events);
    io_uring_sqe_set_data(sqe, wait);
    return 0;
}

static int recv_uring(struct io_wait *wait, void *buffer, size_t size, int flags) {
    struct io_uring_sqe *sqe = entry();
    io_uring_prep_recv(sqe, wait->descriptor, buffer, size < INT32_MAX ? size : INT32_MAX, flags);
    if (poll_first)
        sqe->ioprio |= IORING_RECVSEND_POLL_FIRST;
    io_uring_sqe_set_data(sqe, wait);
    return 0;
}

static int readv_uring(struct io_wait *wait, const struct iovec *parts, int count, off_t offset) {
    struct io_uring_sqe *sqe = entry();
    io_uring_prep_readv(sqe, wait->descriptor, parts, (unsigned)count, (uint64_t)offset);
    io_uring_sqe_set_data(sqe, wait);
    return 0;
}

static int writev_uring(struct io_wait *wait, const struct iovec *parts, int count, off_t offset) {
    struct io_uring_sqe *sqe = entry();
    io_uring_prep_writev(sqe, wait->descriptor, parts, (unsigned)count, (uint64_t)offset);
    io_uring_sqe_set_data(sqe, wait);
    return 0;
}

static int fsync_uring(struct io_wait *wait) {
    struct io_uring_sqe *sqe = entry();
    io_uring_prep_fsync(sqe, wait->descriptor, 0);
    io_uring_sqe_set_data(sqe, wait);
    return 0;
}

/* Waits for the operation's own completion: only then the kernel is done with its buffer. For all that waits on a
 * socket or a pipe the kernel completes it at once. */
static void cancel(struct io_wait *wait) {
    struct io_uring_sqe *sqe = entry();
    io_uring_prep_cancel(sqe, wait, 0);
    io_uring_sqe_set_data(sqe, NULL);
    bool before = signals.off;
    signals.off = true;
    while (!wait->done) {
        io_uring_submit_and_wait(&ring, 1);
        reap();
    }
    /* The kernel stops at an entry that it refuses, say of a descriptor that is closed. Were the cancellation left
     * behind it, it would find the next operation that waits at this address. */
    while (io_uring_sq_ready(&ring) > 0)
        if (io_uring_submit(&ring) < 0)
            reap();
    signals.off = before;
}

static void forget(int descriptor, struct io_descriptor *state) {
    (void)descriptor;
    (void)state;
}

const struct io_driver io_uring_driver = {
    .name = "io_uring",
    .start = start_uring,
    .stop = stop_uring,
    .dispatcher = {.poll = poll_uring, .busy = io_waiting},
    .ready = ready,
    .recv = recv_uring,
    .readv = readv_uring,
    .writev = writev_uring,
    .fsync = fsync_uring,
    .cancel = cancel,
    .forget = forget,
};

static void poll_uring(int64_t instant) {
    reap();
    int64_t left = 0;
    if (instant > 0 && !io_finished())
        left = instant == CATAPULTS_FOREVER ? instant : instant - catapults_now();
    if (left <= 0) {
        enter();
    } else if (instant == CATAPULTS_FOREVER) {
        io_uring_submit_and_wait(&ring, 1);
    } else {
        struct __kernel_timespec time = {.tv_sec = left / 1000000000, .tv_nsec = left % 1000000000};
        struct io_uring_cqe *first;
        io_uring_submit_and_wait_timeout(&ring, &first, 1, &time, NULL);
    }
    reap();
    io_unblock_finished();
}

/* A system call only if there is something to submit, or the kernel says that it has something for us. */
static void enter(void) {
    unsigned flags = IO_URING_READ_ONCE(*ring.sq.kflags);
    if (flags & (IORING_SQ_TASKRUN | IORING_SQ_CQ_OVERFLOW))
        io_uring_submit_and_get_events(&ring);
    else if (io_uring_sq_ready(&ring) > 0)
        io_uring_submit(&ring);
}

static void reap(void) {
    struct io_uring_cqe *completion;
    unsigned head, count = 0;
    io_uring_for_each_cqe(&ring, head, completion) {
        struct io_wait *wait = io_uring_cqe_get_data(completion);
        count++;
        if (wait != NULL) /* NULL: a cancellation's own */
            io_finish(wait, completion->res);
    }
    io_uring_cq_advance(&ring, count);
}

static struct io_uring_sqe *entry(void) {
    struct io_uring_sqe *sqe;
    while ((sqe = io_uring_get_sqe(&ring)) == NULL) {
        /* EBUSY: the kernel wants its completions collected first. */
        if (io_uring_submit(&ring) < 0)
            reap();
    }
    return sqe;
}

static bool operations_supported(void) {
    static const int operations[] = {IORING_OP_POLL_ADD, IORING_OP_RECV,         IORING_OP_READV,
                                     IORING_OP_WRITEV,   IORING_OP_ASYNC_CANCEL, IORING_OP_FSYNC};
    struct io_uring_probe *probe = io_uring_get_probe_ring(&ring);
    bool all = probe != NULL;
    for (size_t i = 0; all && i < sizeof operations / sizeof *operations; i++)
        all = io_uring_opcode_supported(probe, operations[i]);
    io_uring_free_probe(probe);
    return all;
}
