/*
 * Signals that the library asked for, on their way to an upcall (§4.3).
 */
#include <errno.h>

#include "activations/activation.h"
#include "contexts/surplus.h"
#include "contexts/system.h"

/* A slot is empty, being written, full, or being read. */
enum { SLOTS = 128, EMPTY = 0, BUSY = 1, FULL = 2 };
static struct {
    _Atomic int state;
    siginfo_t info;
} slots[SLOTS];
_Atomic int signals_waiting;
static _Atomic unsigned oldest, newest;
static struct surplus *_Atomic surplus; /* signals without a slot */
static _Atomic uint64_t owned;          /* signals that the library asked for */
static _Atomic bool shut;               /* no slot was free: they are blocked until there is room */

uint64_t signals_open(uint64_t mask) {
    uint64_t ours = atomic_load(&owned);
    return atomic_load(&shut) ? mask | ours : mask & ~ours;
}

/* Those that run, or seem blocked but may run, renew the mask with which they go on. All others do so when they run. */
static void open_all(void) {
    int used = atomic_load(&activations.lwps);
    for (int i = 0; i < used; i++) {
        enum lwp_state state = lwp_state(&sa_lwps[i]);
        if (state == LWP_RUNNING || state == LWP_LOST)
            interrupt_send(&sa_lwps[i]);
    }
}

static bool is_room(void) { return atomic_load(&signals_waiting) < SLOTS / 2; }

/* Whoever makes room after `shut` was set sees it. */
static void put_aside(siginfo_t *info) {
    atomic_store(&shut, true);
    if (surplus_keep(&surplus, info))
        atomic_fetch_add(&signals_waiting, 1);
    if (is_room())
        atomic_store(&shut, false);
}

/* A signal was taken: there may be room. */
static void taken(void) {
    atomic_fetch_sub(&signals_waiting, 1);
    if (atomic_load(&shut) && is_room() && atomic_exchange(&shut, false))
        open_all();
}

void signals_keep(siginfo_t *info) {
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
    put_aside(info);
}

bool signals_next(siginfo_t *info) {
    unsigned at = atomic_load(&oldest);
    for (int i = 0; i < SLOTS; i++, at++) {
        int full = FULL;
        if (!atomic_compare_exchange_strong(&slots[at % SLOTS].state, &full, BUSY))
            continue;
        *info = slots[at % SLOTS].info;
        atomic_store(&slots[at % SLOTS].state, EMPTY);
        atomic_store(&oldest, at + 1);
        taken();
        return true;
    }
    if (!surplus_take(&surplus, info))
        return false;
    taken();
    return true;
}

int sa_signals(const sigset_t *signals) {
    uint64_t asked = signal_word(signals), now = atomic_load(&owned);
    const uint64_t refused =
        UINT64_C(1) << (SIGKILL - 1) | UINT64_C(1) << (SIGSTOP - 1) | UINT64_C(1) << (SIGNAL_LAST - 2 - 1);
    if (asked & refused)
        return sa_fail(EINVAL);
    for (int signal = 1; signal <= SIGNAL_LAST; signal++) {
        uint64_t bit = UINT64_C(1) << (signal - 1);
        bool wanted = asked & bit, had = now & bit;
        if (wanted == had)
            continue;
        bool caught = wanted || (signal == SIGTRAP && activations.steps);
        int error = -(caught ? interrupt_catch(signal) : system_signal(signal, SIG_DFL));
        if (error)
            return sa_fail(error);
        now ^= bit;
    }
    if (now == atomic_exchange(&owned, now))
        return 0;
    sa_hold();
    open_all();
    signal_mask(signals_open(signal_mask(SIGNALS_ALL)));
    sa_release();
    return 0;
}
