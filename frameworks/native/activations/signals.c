/*
 * Signals that the library asked for, on their way to an upcall (§4.3).
 */
#include <errno.h>

#include "activations/activation.h"
#include "activations/system.h"

/* A slot is empty, being written, full, or being read. What finds none is lost, as signals beyond RLIMIT_SIGPENDING
 * are. */
enum { SLOTS = 128, EMPTY = 0, BUSY = 1, FULL = 2 };
static struct {
    _Atomic int state;
    siginfo_t info;
} slots[SLOTS];
_Atomic int signals_waiting;
static _Atomic unsigned oldest, newest;

void signals_keep(const siginfo_t *info) {
    unsigned at = atomic_fetch_add(&newest, 1);
    for (int i = 0; i < SLOTS; i++, at++) {
        int empty = EMPTY;
        if (!atomic_compare_exchange_strong(&slots[at % SLOTS].state, &empty, BUSY))
            continue;
        slots[at % SLOTS].info = *info;
        atomic_store(&slots[at % SLOTS].state, FULL);
        atomic_fetch_add(&signals_waiting, 1);
        return;
    }
}

bool signals_next(siginfo_t *info) {
    unsigned at = atomic_load(&oldest);
    for (int i = 0; i < SLOTS; i++, at++) {
        int full = FULL;
        if (!atomic_compare_exchange_strong(&slots[at % SLOTS].state, &full, BUSY))
            continue;
        *info = slots[at % SLOTS].info;
        atomic_store(&slots[at % SLOTS].state, EMPTY);
        atomic_fetch_sub(&signals_waiting, 1);
        atomic_store(&oldest, at + 1);
        return true;
    }
    return false;
}

int sa_signals(const sigset_t *signals) {
    static sigset_t owned;
    if (sigismember(signals, SIGKILL) == 1 || sigismember(signals, SIGSTOP) == 1 ||
        sigismember(signals, SIGRTMAX - 2) == 1) {
        errno = EINVAL;
        return -1;
    }
    for (int signal = 1; signal <= SIGRTMAX; signal++) {
        bool wanted = sigismember(signals, signal) == 1, had = sigismember(&owned, signal) == 1;
        if (wanted == had)
            continue;
        struct sigaction action = {.sa_flags = SA_SIGINFO | SA_RESTART};
        sigfillset(&action.sa_mask);
        if (wanted || (signal == SIGTRAP && activations.steps))
            action.sa_sigaction = interrupt_handler;
        else
            action = (struct sigaction){.sa_handler = SIG_DFL};
        if (sigaction(signal, &action, NULL) != 0)
            return -1;
        if (wanted)
            sigaddset(&owned, signal);
        else
            sigdelset(&owned, signal);
    }
    return 0;
}
