/*
 * The driver on io_uring. Waits and operations are entries of the submission ring. The dispatcher submits them when it
 * has nothing better to do, so that one system call begins many and collects many.
 *
 * Several processors use the ring under their lock. The one that sleeps in the kernel has submitted all there was, and
 * touches nothing of the ring until it is back. What others prepare meanwhile they submit at once: nobody else would do
 * so soon. One more entry, of an eventfd that others can write to, is always there to end its sleep.
 */
#include <errno.h>
#include <liburing.h>
#include <sys/eventfd.h>

#include "io/io.h"
#include "process/signals.h"

#define ENTRIES 1024     /* of the submission ring; a full one is submitted */
#define COMPLETIONS 4096 /* the kernel keeps the surplus for later (IORING_FEAT_NODROP) */

static struct io_uring ring;
static bool poll_first; /* recv can be told that nothing has come yet */
static bool missed;     /* a cancellation that has completed found nothing */

/* With several processors. */
static int kicks = -1;    /* an eventfd that ends the sleep in the kernel */
static bool kick_awaited; /* the ring has the entry for it */
static bool sleeping;

static void poll_uring(int64_t instant);
static void sleep_alone(int64_t instant, int64_t left);
static void sleep_among_others(int64_t instant, int64_t left);
static void prepared(struct io_uring_sqe *sqe, struct io_wait *wait);
static void submit_all(void);
static void await_kick(void);
static void pass_on_kick(void);
static void enter(void);
static void reap(void);
static struct io_uring_sqe *entry(void);
static bool operations_supported(void);

static int start_uring(bool several) {
    /* The best that the kernel has: completions are prepared only when we ask for them (6.1), or without interrupting
     * us (5.19). With several processors, the kernel thread that began an operation may compute for long: the
     * completion interrupts it. */
    static const unsigned modes[] = {
        IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_TASKRUN_FLAG,
        IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG,
        0,
    };
    const size_t modes_count = sizeof modes / sizeof *modes;
    int error = EINVAL;
    for (size_t i = several ? modes_count - 1 : 0; i < modes_count && error == EINVAL; i++) {
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
    if (error)
        return error;
    if (!several) {
        io_uring_register_ring_fd(&ring); /* spares a look-up per system call; not needed */
        return 0;
    }
    kicks = system_eventfd2(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (kicks >= 0)
        return 0;
    io_uring_queue_exit(&ring);
    return -kicks;
}

static void stop_uring(void) {
    io_uring_queue_exit(&ring);
    if (kicks >= 0)
        system_close(kicks); /* Linux closes it, whatever it says */
    kicks = -1;
    kick_awaited = sleeping = false;
}

/* Called in handlers of signals too, which tools must not put off. */
static TOOLS_UNSEEN void kick(void) {
    uint64_t one = 1;
    system_call(SYS_write, kicks, (long)&one, sizeof one, 0); /* if not, it is full of kicks, and one is enough */
}

static int ready(struct io_wait *wait) {
    struct io_uring_sqe *sqe = entry();
    io_uring_prep_poll_add(sqe, wait->descriptor, (unsigned short)wait->events);
    prepared(sqe, wait);
    return 0;
}

static int recv_uring(struct io_wait *wait, void *buffer, size_t size, int flags) {
    struct io_uring_sqe *sqe = entry();
    io_uring_prep_recv(sqe, wait->descriptor, buffer, size < INT32_MAX ? size : INT32_MAX, flags);
    if (poll_first)
        sqe->ioprio |= IORING_RECVSEND_POLL_FIRST;
    prepared(sqe, wait);
    return 0;
}

static int readv_uring(struct io_wait *wait, const struct iovec *parts, int count, off_t offset) {
    struct io_uring_sqe *sqe = entry();
    io_uring_prep_readv(sqe, wait->descriptor, parts, (unsigned)count, (uint64_t)offset);
    prepared(sqe, wait);
    return 0;
}

static int writev_uring(struct io_wait *wait, const struct iovec *parts, int count, off_t offset) {
    struct io_uring_sqe *sqe = entry();
    io_uring_prep_writev(sqe, wait->descriptor, parts, (unsigned)count, (uint64_t)offset);
    prepared(sqe, wait);
    return 0;
}

static int fsync_uring(struct io_wait *wait) {
    struct io_uring_sqe *sqe = entry();
    io_uring_prep_fsync(sqe, wait->descriptor, 0);
    prepared(sqe, wait);
    return 0;
}

/* Waits for the operation's own completion: only then is the kernel done with its buffer. The kernel completes waits on
 * a socket or a pipe at once. It does not find an operation that it is about to try again because data came. If
 * somebody else has taken the data, that one waits on: so it is cancelled anew until it is complete. */
static void cancel(struct io_wait *wait) {
    bool before = signals.off;
    signals.off = true;
    while (!wait->done) {
        struct io_uring_sqe *sqe = entry();
        io_uring_prep_cancel(sqe, wait, 0);
        io_uring_sqe_set_data(sqe, &missed);
        for (missed = false; !wait->done && !missed; reap())
            io_uring_submit_and_wait(&ring, 1); /* if not, once more */
        if (missed)
            system_sched_yield(); /* to the kernel thread that began the operation and is to try it again */
    }
    /* The kernel stops at an entry that it refuses, say of a closed descriptor. A cancellation left behind it would
     * find the next operation that waits at this address. */
    submit_all();
    pass_on_kick();
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
    .dispatcher = {.poll = poll_uring, .busy = io_waiting, .kick = kick},
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
    if (left <= 0)
        enter();
    else if (kicks < 0)
        sleep_alone(instant, left);
    else
        sleep_among_others(instant, left);
    reap();
    pass_on_kick();
    io_unblock_finished();
}

static struct __kernel_timespec time_of(int64_t left) {
    return (struct __kernel_timespec){.tv_sec = left / 1000000000, .tv_nsec = left % 1000000000};
}

static void sleep_alone(int64_t instant, int64_t left) {
    if (instant == CATAPULTS_FOREVER) {
        io_uring_submit_and_wait(&ring, 1); /* woken early, or by an error: the caller comes again */
        return;
    }
    struct __kernel_timespec time = time_of(left);
    struct io_uring_cqe *first;
    io_uring_submit_and_wait_timeout(&ring, &first, 1, &time, NULL); /* see above */
}

/* Its system call knows nothing of the ring in memory. */
static void sleep_among_others(int64_t instant, int64_t left) {
    await_kick();
    submit_all();
    if (io_finished()) /* it had to be reaped first */
        return;
    struct __kernel_timespec time = time_of(left);
    struct io_uring_getevents_arg until = {.ts = instant == CATAPULTS_FOREVER ? 0 : (uint64_t)(uintptr_t)&time};
    sleeping = true;
    dispatcher_leave();
    /* However it ends, whoever polls looks and comes again. */
    io_uring_enter2((unsigned)ring.ring_fd, 0, 1, IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG, (void *)&until,
                    sizeof until);
    dispatcher_enter();
    sleeping = false;
}

static void prepared(struct io_uring_sqe *sqe, struct io_wait *wait) {
    io_uring_sqe_set_data(sqe, wait);
    if (sleeping) {
        submit_all();
        pass_on_kick();
    }
}

/* The kernel stops at an entry that it refuses, whose completion tells its thread. */
static void submit_all(void) {
    while (io_uring_sq_ready(&ring) > 0)
        if (io_uring_submit(&ring) < 0)
            reap(); /* EBUSY: it wants its completions collected first */
}

/* A system call only if there is something to submit, or the kernel has something for us. */
static void enter(void) {
    unsigned flags = IO_URING_READ_ONCE(*ring.sq.kflags);
    if (flags & (IORING_SQ_TASKRUN | IORING_SQ_CQ_OVERFLOW))
        io_uring_submit_and_get_events(&ring); /* what it does not take stays in the ring until the next poll */
    else if (io_uring_sq_ready(&ring) > 0)
        io_uring_submit(&ring); /* see above */
}

static void await_kick(void) {
    if (kick_awaited)
        return;
    struct io_uring_sqe *sqe = entry();
    io_uring_prep_poll_add(sqe, kicks, POLLIN);
    io_uring_sqe_set_data(sqe, &kicks);
    kick_awaited = true;
}

/* It is for the one that sleeps, or is about to. If another finds it, it comes again. */
static void take_kick(void) {
    uint64_t count;
    kick_awaited = false;
    if (!sleeping)
        system_read(kicks, &count, sizeof count); /* if not, another has taken it */
}

static void pass_on_kick(void) {
    while (sleeping && !kick_awaited) {
        await_kick();
        submit_all();
    }
}

static void reap(void) {
    struct io_uring_cqe *completion;
    unsigned head, count = 0;
    io_uring_for_each_cqe(&ring, head, completion) {
        struct io_wait *wait = io_uring_cqe_get_data(completion);
        count++;
        if ((void *)wait == &kicks)
            take_kick();
        else if ((void *)wait == &missed)
            missed = completion->res == -ENOENT;
        else
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
