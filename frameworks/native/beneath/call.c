/*
 * Which calls are not the kernel's alone: all are listed here.
 */
#include "beneath/call.h"

#include <errno.h>
#include <linux/io_uring.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>

#include "beneath/arrived.h"
#include "beneath/elsewhere.h"
#include "beneath/everywhere.h"
#include "beneath/futex.h"
#include "beneath/robust.h"
#include "beneath/sandbox.h"
#include "beneath/sites.h"
#include "beneath/thread.h"
#include "beneath/timers.h"
#include "beneath/variables.h"
#include "beneath/waits.h"
#include "contexts/here.h"
#include "contexts/text.h"
#include "preemption/preemption.h"
#include "process/kernel_threads.h"

/* The kernel knows one thread, whose number is the process's. */
static long for_one_of(const struct call *call) {
    struct call other = *call;
    dispatcher_enter();
    if (thread_numbered((int)call->first))
        other.first = 0;
    dispatcher_leave();
    return call_kernel(&other);
}

static void interrupt(pid_t thread) {
    system_tgkill(system_getpid(), thread, PREEMPTION_SIGNAL); /* if too many signals pend, one of these may */
}

static long name(const struct call *call);

/* An interruption that still pends would end that program. */
static long other_program(const struct call *call) {
    const struct kernel_action none = {.handler = SIG_IGN};
    struct kernel_action ours;
    system_rt_sigaction(PREEMPTION_SIGNAL, &none, &ours); /* cannot fail: it has a handler, or could have one */
    long result = call_kernel(call);
    system_rt_sigaction(PREEMPTION_SIGNAL, &ours, NULL); /* as before */
    /* It has failed. Interruptions may have been lost meanwhile. */
    dispatcher_enter();
    interrupt(system_gettid());
    if (dispatcher_guard.several)
        processors_each(interrupt);
    dispatcher_leave();
    return result;
}

/* What sandboxes and rights are made of holds for all kernel threads. */
static long property(const struct call *call) {
    switch ((int)call->first) {
    case PR_SET_KEEPCAPS:
    case PR_SET_SECUREBITS:
    case PR_CAPBSET_DROP:
    case PR_SET_NO_NEW_PRIVS:
        return everywhere_call(call);
    case PR_SET_SECCOMP:
        return sandbox_property(call);
    case PR_CAP_AMBIENT:
        return call->second == PR_CAP_AMBIENT_IS_SET ? call_kernel(call) : everywhere_call(call);
    default:
        return name(call);
    }
}

/* Of a ring that only its maker's kernel thread may use, others cannot be the makers' threads. */
static long make_ring(const struct call *call) {
    struct io_uring_params *about = (struct io_uring_params *)call->second;
    enum { SINGLE_ISSUER = 1 << 12, DEFER_TASKRUN = 1 << 13 };
    if (dispatcher_guard.several && (about->flags & (SINGLE_ISSUER | DEFER_TASKRUN)))
        return -EINVAL; /* as kernels that do not know these */
    return call_kernel(call);
}

static long name(const struct call *call) {
    long result = call_kernel(call);
    struct member *self = &thread_self()->member;
    if (result == 0 && call->first == PR_SET_NAME)
        text_format(self->name, sizeof self->name, "%s", (const char *)call->second);
    return result;
}

/* It may wait in the kernel. A signal that is the runtime's, or another thread's, must not end it. */
static long through(const struct call *call) {
    long result;
    do {
        here_set_apart(true);
        result = call_kernel(call);
        here_set_apart(false);
    } while (result == -EINTR && !arrived_for(thread_self()) && call->number != SYS_close); /* which has closed */
    return result;
}

static long of_several(const struct call *call) {
    switch (call->number) {
    case SYS_read:
    case SYS_readv:
    case SYS_recvfrom:
    case SYS_recvmsg:
        return transfer_read(call);
    case SYS_write:
    case SYS_writev:
    case SYS_sendto:
    case SYS_sendmsg:
        return transfer_write(call);
    case SYS_mq_timedsend:
    case SYS_mq_timedreceive:
        return transfer_message(call);
    case SYS_accept:
    case SYS_accept4:
        return transfer_accept(call);
    case SYS_connect:
        return transfer_connect(call);
    case SYS_wait4:
        return again_wait4(call);
    case SYS_waitid:
        return again_waitid(call);
    case SYS_pread64:
    case SYS_pwrite64:
    case SYS_preadv:
    case SYS_pwritev:
    case SYS_preadv2:
    case SYS_pwritev2:
        return elsewhere_transfer(call);
    case SYS_fsync:
    case SYS_fdatasync:
    case SYS_sync:
    case SYS_syncfs:
    case SYS_sync_file_range:
    case SYS_msync:
    case SYS_fallocate:
        return elsewhere_call(call);
    case SYS_msgsnd:
        return again_send(call);
    case SYS_msgrcv:
        return again_receive(call);
    case SYS_semop:
    case SYS_semtimedop:
        return again_semaphores(call);
    case SYS_io_uring_enter:
        return readiness_ring(call);
    case SYS_flock:
        return again_flock(call);
    case SYS_fcntl:
        return again_lock(call);
    default:
        return through(call);
    }
}

static long perform(struct call *call) {
    switch (call->number) {
    case SYS_futex:
        return futex_call(call);
    case SYS_clone:
    case SYS_clone3:
        return thread_clone(call);
    case SYS_vfork: { /* with memory of its own: what it does must not be done to the threads here */
        struct call fork = {.number = SYS_clone, .first = CLONE_VFORK | SIGCHLD};
        return thread_clone(&fork);
    }
    case SYS_fork: {
        struct call fork = {.number = SYS_clone, .first = SIGCHLD};
        return thread_clone(&fork);
    }
    case SYS_execve:
    case SYS_execveat:
        return other_program(call);
    case SYS_exit:
        thread_exit();
    case SYS_gettid:
        return thread_self()->number;
    case SYS_set_tid_address:
        thread_self()->clear = (uint32_t *)call->first;
        return thread_self()->number;
    case SYS_set_robust_list:
        return robust_set(call);
    case SYS_rseq: /* the kernel thread's, and no thread's */
        return -ENOSYS;
    case SYS_sched_yield:
        dispatcher_yield();
        return 0;
    case SYS_tgkill:
        return arrived_send((int)call->second, (int)call->third, NULL, call);
    case SYS_tkill:
        return arrived_send((int)call->first, (int)call->second, NULL, call);
    case SYS_rt_sigaction:
        return arrived_sigaction(call);
    case SYS_rt_sigprocmask:
        return arrived_sigprocmask(call);
    case SYS_sigaltstack:
        return arrived_sigaltstack(call);
    case SYS_rt_sigpending:
        return arrived_sigpending(call);
    case SYS_timer_create:
        return timers_create(call);
    case SYS_timer_delete:
        return timers_delete(call);
    case SYS_timer_getoverrun:
        return timers_overrun(call);
    case SYS_prctl:
        return property(call);
    case SYS_seccomp:
        return sandbox_seccomp(call);
    case SYS_io_uring_setup:
        return make_ring(call);
    case SYS_rt_tgsigqueueinfo:
        return arrived_send((int)call->second, (int)call->third, (const siginfo_t *)call->fourth, call);
    case SYS_sched_setaffinity: /* of a kernel thread, on which others run as well */
        return dispatcher_guard.several ? -ENOSYS : for_one_of(call);
    case SYS_sched_getaffinity:
        return for_one_of(call);
    case SYS_sched_setparam:
    case SYS_sched_setscheduler:
        return scheduling_set(call);
    case SYS_sched_getparam:
    case SYS_sched_getscheduler:
        return scheduling_get(call);
    case SYS_setuid:
    case SYS_setgid:
    case SYS_setreuid:
    case SYS_setregid:
    case SYS_setresuid:
    case SYS_setresgid:
    case SYS_setfsuid:
    case SYS_setfsgid:
    case SYS_setgroups:
    case SYS_capset:
        return everywhere_call(call);
    case SYS_getpriority:
        return scheduling_get_nice(call);
    case SYS_setpriority:
        return scheduling_set_nice(call);
    case SYS_poll:
    case SYS_ppoll:
        return readiness_poll(call);
    case SYS_select:
    case SYS_pselect6:
        return readiness_select(call);
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
    case SYS_epoll_pwait2:
        return readiness_epoll(call);
    case SYS_nanosleep:
        return pause_nanosleep(call);
    case SYS_clock_nanosleep:
        return pause_clock_nanosleep(call);
    case SYS_rt_sigtimedwait:
        return arrived_sigtimedwait(call);
    case SYS_rt_sigsuspend:
        return arrived_sigsuspend(call);
    case SYS_pause:
        while (thread_wait_alone(BLOCK_SIGNAL, DISPATCHER_FOREVER) != EINTR)
            ;
        return -EINTR;
    default:
        /* If nobody else can run, the kernel may make the process wait. */
        return threads_are_many() ? of_several(call) : through(call);
    }
}

static enum again again(const struct call *call) {
    switch (call->number) {
    case SYS_read:
    case SYS_readv:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_write:
    case SYS_writev:
    case SYS_sendto:
    case SYS_sendmsg:
    case SYS_accept:
    case SYS_accept4:
    case SYS_connect:
    case SYS_wait4:
    case SYS_waitid:
    case SYS_flock:
    case SYS_fcntl:
    case SYS_mq_timedsend:
    case SYS_mq_timedreceive:
        return AGAIN_IF_ALLOWED;
    case SYS_futex:
        return futex_again(call);
    default:
        return AGAIN_NEVER;
    }
}

long beneath_call(struct call *call) {
    if (here_inside()) { /* a handler of a signal, a child that has borrowed the stack, or libc for the runtime
                          */
        return call_kernel(call);
    }
    for (;;) {
        here_set_inside(true);
        variables_refresh();
        thread_self()->vectors.whole = sites_keep_all(call->stub);
        long result = perform(call);
        enum again after = __builtin_expect(result != -EINTR, 1) ? AGAIN_NEVER : again(call);
        bool allowed = arrived_leave();
        if (after == AGAIN_NEVER || (after == AGAIN_IF_ALLOWED && !allowed))
            return result;
    }
}
