/*
 * Alarms: two timers of the kernel for each processor, one for sa_alarm and one for what could not be told for want of
 * a spare. They interrupt the activation that runs there.
 *
 * That activation changes. A timer that interrupted one which has blocked meanwhile would break off its system call. So
 * all timers interrupt one kernel thread, which looks who has the processor. It waits for no lock of libc, unlike the
 * keeper, which makes spares by pthread_create.
 */
#include <errno.h>
#include <signal.h>

#include "activations/activation.h"
#include "contexts/system.h"

enum {
    SECOND = 1000000000,
    SOON = 1000000,            /* nanoseconds until the next attempt */
    AGAIN = SA_PROCESSORS_MOST /* added to the number of the processor: its other timer */
};

static _Atomic int tid;

void *alarms_ring(void *unused) {
    uint64_t set = UINT64_C(1) << (activations.signal - 1);
    atomic_store(&tid, system_gettid());
    for (;;) {
        siginfo_t info;
        long signal = system_call(SYS_rt_sigtimedwait, (long)&set, (long)&info, 0, sizeof set);
        if (signal <= 0 || info.si_code != SI_TIMER)
            continue;
        int value = info.si_value.sival_int;
        if (value < AGAIN)
            interrupt_processor(&sa_processors[value]);
        else
            interrupt_again(&sa_processors[value - AGAIN]);
    }
    return unused;
}

bool alarms_begun(void) { return atomic_load(&tid) != 0; }

static int make_timer(int value, int *timer) {
    union sigval sent = {.sival_int = value};
    return -system_timer_create(CLOCK_MONOTONIC, atomic_load(&tid), activations.signal, sent, timer);
}

int alarms_add(struct sa_processor *processor) {
    int error = make_timer(processor->number, &processor->timer);
    if (!error && (error = make_timer(processor->number + AGAIN, &processor->again)))
        system_timer_delete(processor->timer); /* it was made above */
    return error;
}

void alarms_remove(struct sa_processor *processor) {
    system_timer_delete(processor->timer); /* both were made by alarms_add */
    system_timer_delete(processor->again); /* see above */
}

/* A later call delays the timer, but its caller has just tried in vain. */
void alarms_again(struct sa_processor *processor) {
    struct itimerspec soon = {.it_value = {0, SOON}};
    system_timer_settime(processor->again, 0, &soon); /* it lives as long as the processor */
}

int sa_alarm(int number, int64_t instant) {
    if (number < 0 || number >= SA_PROCESSORS_MOST || !atomic_load(&sa_processors[number].active) ||
        !atomic_load(&activations.enabled))
        return sa_fail(ESRCH);
    if (instant < 0)
        instant = 1; /* long ago: 0 would disarm it */
    struct itimerspec when = {.it_value = {instant / SECOND, instant % SECOND}};
    int error = -system_timer_settime(sa_processors[number].timer, TIMER_ABSTIME, &when);
    return error ? sa_fail(error) : 0;
}
