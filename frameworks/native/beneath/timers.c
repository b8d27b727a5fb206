#include "beneath/timers.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include "beneath/arrived.h"
#include "beneath/thread.h"
#include "contexts/memory.h"
#include "preemption/preemption.h"

/* A timer. Guarded by the lock, but for `ends`. The kernel may still have one that was deleted, so none is given back:
 * a new one takes its place. */
struct alarm {
    struct alarm *next;
    int id; /* the kernel's, and the application's; UNUSED: it has none */
    int thread, signal;
    union sigval value;
    _Atomic unsigned ends; /* that have come, and were not sent on yet */
    unsigned overruns;     /* of the signal that was taken last, or pends */
};
enum { UNUSED = -1 };

static struct alarm *_Atomic all;
static _Atomic bool any;
static bool started;

static struct alarm *find(int id) {
    struct alarm *timer = atomic_load(&all);
    while (timer && timer->id != id)
        timer = timer->next;
    return timer;
}

/* In the handler, wherever the program is. Which timers there are only grows. */
static bool has_ended(const siginfo_t *info) {
    struct alarm *timer = info->si_code == SI_TIMER ? atomic_load(&all) : NULL;
    while (timer && timer != info->si_ptr)
        timer = timer->next;
    if (!timer)
        return false;
    atomic_fetch_add(&timer->ends, 1 + (unsigned)info->si_overrun);
    atomic_store(&any, true);
    return true;
}

static void send_on(struct alarm *timer, unsigned ends) {
    struct beneath_thread *thread = timer->id == UNUSED ? NULL : thread_numbered(timer->thread);
    if (!thread)
        return;
    siginfo_t *pends = pending_of_timer(&thread->signals.pending, timer->signal, timer->id);
    if (pends) {
        pends->si_overrun += (int)ends;
        timer->overruns += ends;
        return;
    }
    const siginfo_t info = {.si_signo = timer->signal,
                            .si_code = SI_TIMER,
                            .si_timerid = timer->id,
                            .si_overrun = (int)ends - 1,
                            .si_value = timer->value};
    timer->overruns = ends - 1;
    if (arrived_direct(thread, &info) < 0)
        atomic_fetch_add(&timer->ends, ends); /* too many pend: with its next end */
}

bool timers_any(void) { return atomic_load(&any); }

void timers_attend(void) {
    if (__builtin_expect(!timers_any(), 1))
        return;
    atomic_store(&any, false);
    for (struct alarm *timer = atomic_load(&all); timer; timer = timer->next) {
        unsigned ends = atomic_exchange(&timer->ends, 0);
        if (ends > 0)
            send_on(timer, ends);
    }
}

void timers_restart(void) {
    for (struct alarm *timer = atomic_load(&all); timer; timer = timer->next)
        timer->id = UNUSED;
    atomic_store(&any, false);
}

/* ---- The kernel's calls ------------------------------------------------------------------------------------------ */

static long create(const struct call *call, const struct sigevent *asked) {
    if (asked->sigev_signo < 1 || asked->sigev_signo > SIGNALS)
        return -EINVAL;
    struct alarm *timer = find(UNUSED);
    if (!timer) {
        timer = memory_take(sizeof *timer);
        if (!timer)
            return -EAGAIN;
        timer->id = UNUSED;
        timer->next = atomic_load(&all);
        atomic_store(&all, timer);
    }
    if (!started)
        preemption_other(has_ended);
    started = true;
    struct sigevent ours = {
        .sigev_notify = SIGEV_SIGNAL, .sigev_signo = PREEMPTION_SIGNAL, .sigev_value.sival_ptr = timer};
    struct call other = *call;
    other.second = (long)&ours;
    long result = call_kernel(&other);
    if (result < 0)
        return result;
    atomic_store(&timer->ends, 0);
    timer->id = *(const int *)call->third;
    timer->thread = asked->_sigev_un._tid;
    timer->signal = asked->sigev_signo;
    timer->value = asked->sigev_value;
    timer->overruns = 0;
    return 0;
}

long timers_create(const struct call *call) {
    const struct sigevent *asked = (const struct sigevent *)call->second;
    if (!asked || asked->sigev_notify != SIGEV_THREAD_ID)
        return call_kernel(call);
    dispatcher_enter();
    long result = thread_numbered(asked->_sigev_un._tid) ? create(call, asked) : -EINVAL;
    dispatcher_leave();
    return result;
}

long timers_delete(const struct call *call) {
    dispatcher_enter();
    long result = call_kernel(call);
    struct alarm *timer = result == 0 ? find((int)call->first) : NULL;
    if (timer)
        timer->id = UNUSED;
    dispatcher_leave();
    return result;
}

long timers_overrun(const struct call *call) {
    dispatcher_enter();
    const struct alarm *timer = find((int)call->first);
    long result = timer && timer->id != UNUSED ? (long)timer->overruns : call_kernel(call);
    dispatcher_leave();
    return result;
}
