/*
 * Waiting for signals, and taking them along in exec.
 */
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "process/signals.h"
#include "threads/cancel.h"

/* ---- sigwait ----------------------------------------------------------------------------------------------------- */

static void enlist(struct signal_waiter *waiter) {
    struct signal_waiter **link = &signals.waiters;
    while (*link)
        link = &(*link)->next;
    *link = waiter;
    dispatcher_expect_signals(true);
}

static void delist(struct signal_waiter *waiter) {
    struct signal_waiter **link = &signals.waiters;
    while (*link && *link != waiter)
        link = &(*link)->next;
    if (*link)
        *link = waiter->next;
    dispatcher_expect_signals(signals.handled || signals.waiters);
}

/* 0 or an error number: EAGAIN at the instant, ERESTART when handlers are to run, ECANCELED. */
static int wait(struct catapults_handle *self, struct signal_waiter *waiter, int64_t instant) {
    for (uint64_t left = waiter->set & ~signals.taken; left; left &= left - 1)
        signals_own(__builtin_ctzll(left) + 1);
    signals_take_up();
    if (signals_take(&self->member, waiter->set, &waiter->info))
        return 0;
    enlist(waiter);
    int result = cancel_block(self, BLOCK_SIGNAL, instant);
    delist(waiter);
    return waiter->given ? 0 : result == ETIMEDOUT ? EAGAIN : result;
}

static int wait_for_one(const sigset_t *set, siginfo_t *info, int64_t instant, bool restarts) {
    struct catapults_handle *self = handle_self();
    struct signal_waiter waiter = {.thread = &self->member, .set = signals_of(set)};
    if (!waiter.set)
        return EINVAL;
    for (;;) {
        catapults_testcancel();
        waiter.next = NULL;
        dispatcher_enter();
        int result = wait(self, &waiter, instant);
        dispatcher_leave();
        if (result == 0)
            *info = waiter.info;
        if (result == ECANCELED)
            catapults_testcancel();
        if (result != ERESTART) {
            signals_check(&self->member);
            return result;
        }
        if (signals_run(&self->member) != SIGNALS_NONE && !restarts)
            return EINTR;
    }
}

int catapults_sigwait(const sigset_t *set, int *number) {
    siginfo_t info;
    int error = wait_for_one(set, &info, CATAPULTS_FOREVER, true);
    if (!error)
        *number = info.si_signo;
    return error;
}

int catapults_sigwaitinfo(const sigset_t *set, siginfo_t *info) {
    return catapults_sigtimedwait(set, info, CATAPULTS_FOREVER);
}

int catapults_sigtimedwait(const sigset_t *set, siginfo_t *info, int64_t instant) {
    siginfo_t own;
    if (!info)
        info = &own;
    int error = wait_for_one(set, info, instant, false);
    if (!error)
        return info->si_signo;
    errno = error;
    return -1;
}

/* ---- sigsuspend -------------------------------------------------------------------------------------------------- */

int catapults_sigsuspend(const sigset_t *mask) {
    struct catapults_handle *self = handle_self();
    sigset_t before;
    catapults_testcancel();
    catapults_preemption_hold(); /* so that no handler runs before it waits, except by this call */
    signals_to(&before, self->member.signals.mask);
    enum signals_outcome outcome = SIGNALS_NONE;
    dispatcher_enter();
    for (uint64_t left = signals_of(mask) & ~signals.taken; left; left &= left - 1)
        signals_own(__builtin_ctzll(left) + 1);
    self->member.signals.place = SIGNAL_PLACE_WAIT; /* the same: it looks */
    signals_set_mask(&self->member, signals_of(mask));
    signals_take_up();
    if ((self->member.signals.pending | signals.pending) & ~self->member.signals.mask)
        signals_set_due(&self->member, true);
    dispatcher_leave();
    catapults_preemption_release();
    while (outcome == SIGNALS_NONE) {
        dispatcher_enter();
        int result = cancel_block(self, BLOCK_SIGNAL, CATAPULTS_FOREVER);
        self->member.signals.place = SIGNAL_PLACE_ELSEWHERE;
        dispatcher_leave();
        if (result == ECANCELED) {
            signals_set_mask(&self->member, signals_of(&before));
            catapults_testcancel();
        }
        outcome = signals_run(&self->member);
    }
    catapults_sigmask(SIG_SETMASK, &before, NULL);
    errno = EINTR;
    return -1;
}

/* ---- exec -------------------------------------------------------------------------------------------------------- */

/* False, and errno: the kernel cannot keep so many (EAGAIN). */
static bool hand_to_kernel(const struct signal_node *queue) {
    for (; queue; queue = queue->next)
        if (syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), queue->info.si_signo, &queue->info) != 0)
            return false;
    return true;
}

int catapults_execve(const char *path, char *const arguments[], char *const environment[]) {
    struct catapults_handle *self = handle_self();
    sigset_t mask, before, pending;
    catapults_sigpending(&pending);
    dispatcher_enter();
    signals_to(&mask, self->member.signals.mask);
    sigprocmask(SIG_SETMASK, &mask, &before); /* cannot fail: the sets are there */
    if (hand_to_kernel(self->member.signals.queue.first) && hand_to_kernel(signals.queue.first))
        execve(path, arguments, environment); /* returns only if it has failed */
    int error = errno;
    const struct timespec none = {0};
    while (sigtimedwait(&pending, NULL, &none) > 0)
        ;                                    /* they pend here as well */
    sigprocmask(SIG_SETMASK, &before, NULL); /* as above */
    dispatcher_leave();
    errno = error;
    return -1;
}
