#include "beneath/elsewhere.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <sys/uio.h>

#include "beneath/descriptors.h"
#include "beneath/thread.h"
#include "beneath/variables.h"
#include "contexts/libc.h"
#include "contexts/memory.h"
#include "preemption/preemption.h"
#include "process/kernel_threads.h"

enum { WORKERS = 32 };

/* A kernel thread that makes calls for others. All but `state`, `next_done` and the result are guarded by the lock. */
struct worker {
    _Atomic uint32_t state; /* a futex */
    struct call call;
    long result;
    struct beneath_thread *thread; /* whose call it makes; NULL: none */
    pid_t asks;                    /* the kernel thread that it interrupts at the end, if no processor sleeps */
    bool retires;                  /* it ends once it is done */
    struct worker *next, *next_done;
};
enum { IDLE, BUSY, RENEWS, RETIRED };

static struct worker *idle, *_Atomic done;
static struct worker *busy; /* linked by `next` */
static unsigned workers;

static void tell(const struct worker *self) {
    struct worker *first = atomic_load(&done);
    struct worker *mine = (struct worker *)self;
    do
        mine->next_done = first;
    while (!atomic_compare_exchange_weak(&done, &first, mine));
    if (!descriptors_kick())
        system_tgkill(system_getpid(), mine->asks, PREEMPTION_SIGNAL); /* fails only if too many signals pend: it looks
                                                                           all the same, a little later */
}

_Noreturn static void *work(void *worker) {
    struct worker *self = worker;
    for (;;) {
        uint32_t state;
        while ((state = atomic_load(&self->state)) == IDLE)
            futex_wait(&self->state, IDLE, -1);
        if (state == RETIRED)
            for (;;)
                system_call(SYS_exit, 0, 0, 0, 0); /* does not return */
        self->result = call_kernel(&self->call);
        atomic_store(&self->state, IDLE);
        if (state == BUSY)
            tell(self);
    }
}

/* One that is idle; NULL: there are too many, or another cannot be made. */
static struct worker *take(void) {
    struct worker *worker = idle;
    if (worker) {
        idle = worker->next;
        return worker;
    }
    if (workers == WORKERS || !(worker = memory_take(sizeof *worker)))
        return NULL;
    if (libc_make_thread(work, worker, 0) != 0) {
        memory_give(worker);
        return NULL;
    }
    workers++;
    return worker;
}

/* Its memory stays: it still reads its state. There are few of these. */
static void retire(struct worker *worker) {
    workers--;
    atomic_store(&worker->state, RETIRED);
    futex_wake(&worker->state, 1);
}

static void set_to_work(struct worker *worker, const struct call *call) {
    worker->call = *call;
    worker->thread = thread_self();
    worker->asks = system_gettid();
    worker->next = busy;
    busy = worker;
    atomic_store(&worker->state, BUSY);
    futex_wake(&worker->state, 1);
}

static void put_back(struct worker *worker) {
    struct worker **place = &busy;
    while (*place != worker)
        place = &(*place)->next;
    *place = worker->next;
    worker->thread = NULL;
    if (worker->retires) {
        retire(worker);
    } else {
        worker->next = idle;
        idle = worker;
    }
}

long elsewhere_call(const struct call *call) {
    if (!threads_are_many())
        return call_kernel(call);
    dispatcher_enter();
    struct worker *worker = take();
    if (!worker) {
        dispatcher_leave();
        return call_kernel(call);
    }
    set_to_work(worker, call);
    variables_wait(thread_self(), BLOCK_IO_FILE);
    while (!atomic_load(&thread_self()->elsewhere))
        dispatcher_block(BLOCK_IO_FILE, DISPATCHER_FOREVER);
    variables_waited(thread_self());
    thread_self()->elsewhere = false;
    long result = worker->result;
    put_back(worker);
    dispatcher_leave();
    return result;
}

bool elsewhere_any(void) { return atomic_load(&done) != NULL; }

void elsewhere_attend(void) {
    struct worker *next;
    for (struct worker *worker = atomic_exchange(&done, NULL); worker; worker = next) {
        next = worker->next_done;
        atomic_store(&worker->thread->elsewhere, true);
        if (core_is_blocked(&worker->thread->member.dispatched))
            dispatcher_unblock_only(&worker->thread->member.dispatched);
    }
}

void elsewhere_renew(const struct call *call) {
    for (struct worker *worker = idle; worker; worker = worker->next) {
        worker->call = *call;
        atomic_store(&worker->state, RENEWS);
        futex_wake(&worker->state, 1);
        while (atomic_load(&worker->state) == RENEWS)
            system_sched_yield();
    }
    for (struct worker *worker = busy; worker; worker = worker->next)
        worker->retires = true;
}

void elsewhere_restart(void) {
    idle = busy = NULL;
    atomic_store(&done, NULL);
    workers = 0;
}

/* ---- Files ------------------------------------------------------------------------------------------------------- */

/* The same call, which does not wait. `part`: of those that have no list of their own. */
static struct call at_once(const struct call *call, struct iovec *part) {
    struct call other = {.first = call->first, .second = (long)part, .third = 1, .fourth = -1, .sixth = RWF_NOWAIT};
    *part = (struct iovec){.iov_base = (void *)call->second, .iov_len = (size_t)call->third};
    switch (call->number) {
    case SYS_read:
        other.number = SYS_preadv2;
        break;
    case SYS_pread64:
    case SYS_pwrite64:
        other.number = call->number == SYS_pread64 ? SYS_preadv2 : SYS_pwritev2;
        other.fourth = call->fourth;
        break;
    default:
        other = *call;
        other.number = call->number == SYS_preadv || call->number == SYS_preadv2 ? SYS_preadv2 : SYS_pwritev2;
        other.sixth = (call->number == SYS_preadv || call->number == SYS_pwritev ? 0 : call->sixth) | RWF_NOWAIT;
        break;
    }
    return other;
}

/* It may wait: of what is left of the call after so many bytes. */
static long the_rest(const struct call *call, long moved) {
    struct call rest = *call, other;
    struct iovec part;
    rest.second += moved;
    rest.third -= moved;
    if (call->number != SYS_read)
        rest.fourth += moved;
    other = at_once(&rest, &part);
    long more = call_at_once(&other); /* 0: the end of the file */
    if (more == -EAGAIN)
        more = elsewhere_call(&rest);
    return moved + (more > 0 ? more : 0);
}

long elsewhere_transfer(const struct call *call) {
    struct iovec part;
    struct call other = at_once(call, &part);
    bool placed = call->number == SYS_pread64 || call->number == SYS_pwrite64;
    bool of_parts = call->number == SYS_preadv || call->number == SYS_pwritev;
    if (!threads_are_many() || ((placed || of_parts) && call->fourth < 0)) /* the others take -1 for the file's place */
        return call_kernel(call);
    long moved = call_at_once(&other);
    if (moved == -EAGAIN)
        return elsewhere_call(call);
    if (moved == -EOPNOTSUPP || moved == -ENOSYS || moved == -EINVAL)
        return call_kernel(call); /* a file system that cannot tell: mostly in memory */
    bool part_only = (placed || call->number == SYS_read) && moved > 0 && moved < call->third;
    return part_only ? the_rest(call, moved) : moved;
}
