/*
 * Alarms: a timer of the kernel for each processor, which interrupts whoever runs on it when it expires.
 *
 * Who that is changes, and a timer that interrupted an activation which has blocked meanwhile would break off the call
 * that it is in. So all timers interrupt one kernel thread, which looks who has the processor.
 */
#include <errno.h>
#include <signal.h>

#include "activations/activation.h"
#include "activations/system.h"

enum { SECOND = 1000000000 };

static _Atomic int tid;

void *alarms_ring(void *unused) {
    uint64_t set = UINT64_C(1) << (activations.signal - 1);
    atomic_store(&tid, (int)system_call(SYS_gettid, 0, 0, 0, 0, 0));
    for (;;) {
        siginfo_t info;
        long signal = system_call(SYS_rt_sigtimedwait, (long)&set, (long)&info, 0, sizeof set, 0);
        if (signal > 0 && info.si_code == SI_TIMER)
            interrupt_processor(&sa_processors[info.si_value.sival_int]);
    }
    return unused;
}

bool alarms_begun(void) { return atomic_load(&tid) != 0; }

int alarms_add(struct sa_processor *processor) {
    struct sigevent event = {
        .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = activations.signal, .sigev_value.sival_int = processor->number};
    event._sigev_un._tid = atomic_load(&tid);
    return (int)-system_call(SYS_timer_create, CLOCK_MONOTONIC, (long)&event, (long)&processor->timer, 0, 0);
}

int sa_alarm(int number, int64_t instant) {
    if (number < 0 || number >= SA_PROCESSORS_MOST || !atomic_load(&sa_processors[number].active) ||
        !atomic_load(&activations.enabled)) {
        errno = ESRCH;
        return -1;
    }
    if (instant < 0)
        instant = 1; /* long ago: 0 would disarm it */
    struct itimerspec when = {.it_value = {instant / SECOND, instant % SECOND}};
    system_call(SYS_timer_settime, sa_processors[number].timer, TIMER_ABSTIME, (long)&when, 0, 0);
    return 0;
}
