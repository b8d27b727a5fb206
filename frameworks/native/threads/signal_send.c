/*
 * Sending signals to a thread.
 */
#include <errno.h>

#include "contexts/system.h"
#include "process/signals.h"
#include "threads/handle.h"

static int direct(catapults_t thread, int number, int code, union sigval value) {
    if (number < 0 || number >= _NSIG || (number && (signals_reserved() & signal_bit(number))))
        return EINVAL;
    siginfo_t info = {.si_signo = number, .si_code = code};
    info.si_pid = system_getpid();
    info.si_uid = (uid_t)system_call(SYS_getuid, 0, 0, 0, 0);
    info.si_value = value;
    dispatcher_enter();
    int error = thread->ended ? ESRCH : 0;
    if (!error && number) {
        if (!(signals.taken & signal_bit(number)))
            signals_own(number);
        error = signals_post(&thread->member, &info);
        dispatcher_unblocked();
    }
    dispatcher_leave();
    signals_check(member_self());
    return error;
}

int catapults_kill(catapults_t thread, int number) { return direct(thread, number, SI_TKILL, (union sigval){0}); }

int catapults_sigqueue(catapults_t thread, int number, union sigval value) {
    return direct(thread, number, SI_QUEUE, value);
}
