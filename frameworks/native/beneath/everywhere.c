#include "beneath/everywhere.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "beneath/elsewhere.h"
#include "beneath/thread.h"
#include "preemption/preemption.h"
#include "process/kernel_threads.h"
#include "process/report.h"

/* Guarded by the lock, which its caller has until all are done; but for `left` and `done`. */
static struct {
    struct call call;
    long result;
    _Atomic uint32_t number; /* of the call: each kernel thread knows which it did last */
    _Atomic uint32_t left;   /* kernel threads that have not: a futex */
} asked;

static pid_t own;
static uint32_t others;

static void count(pid_t thread) { others += thread != own; }

static void tell(pid_t thread) {
    while (thread != own && system_tgkill(system_getpid(), thread, PREEMPTION_SIGNAL) == -EAGAIN)
        system_sched_yield(); /* too many signals pend */
}

/* Within dispatcher_enter, which is left for moments until all kernel threads have begun. Then this one stays the same.
 */
static void await_all(void) {
    for (;;) {
        own = system_gettid();
        others = 0;
        processors_each(count);
        if (others + 1 == dispatcher_processors())
            return;
        dispatcher_leave();
        system_sched_yield();
        dispatcher_enter();
    }
}

long everywhere_call(const struct call *call) {
    dispatcher_enter();
    if (dispatcher_guard.several)
        await_all();
    long result = call_kernel(call);
    if (result >= 0)
        elsewhere_renew(call);
    if (result < 0 || !dispatcher_guard.several) {
        dispatcher_leave();
        return result;
    }
    asked.call = *call;
    asked.result = result;
    here()->beneath.done = atomic_load(&asked.number) + 1;
    atomic_store(&asked.left, others);
    atomic_fetch_add(&asked.number, 1);
    processors_each(tell);
    for (uint32_t left; (left = atomic_load(&asked.left)) != 0;)
        futex_wait(&asked.left, left, -1);
    dispatcher_leave();
    return result;
}

void everywhere_attend(void) {
    uint32_t number = atomic_load(&asked.number);
    if (__builtin_expect(here()->beneath.done == number, 1))
        return;
    here()->beneath.done = number;
    if (call_kernel(&asked.call) != asked.result) {
        static const char text[] = "catapults: the process ends, because the kernel lets only some of its kernel "
                                   "threads change whom they act as\n";
        report_text(text, sizeof text - 1);
        system_exit_group(EXIT_FAILURE);
    }
    if (atomic_fetch_sub(&asked.left, 1) == 1)
        futex_wake(&asked.left, 1);
}
