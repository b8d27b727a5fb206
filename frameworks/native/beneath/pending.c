#include "beneath/pending.h"

#include <errno.h>
#include <sys/resource.h>

#include "contexts/memory.h"
#include "contexts/system.h"

struct pending_signal {
    struct pending_signal *next;
    siginfo_t info;
};

static unsigned long all; /* of all threads */

static bool may_be_more(void) {
    struct rlimit limit;
    return system_call(SYS_getrlimit, RLIMIT_SIGPENDING, (long)&limit, 0, 0) < 0 || all < limit.rlim_cur;
}

long pending_add(struct pending *pending, const siginfo_t *info) {
    int signal = info->si_signo;
    bool queues = signal >= FIRST_OF_LIBC;
    if (!queues && (pending->set & signal_bit(signal)))
        return 0;
    struct pending_signal *one = !queues || may_be_more() ? memory_take(sizeof *one) : NULL;
    if (!one && queues)
        return -EAGAIN;
    pending->set |= signal_bit(signal);
    if (!one)
        return 0; /* it comes without its data, as in the kernel */
    one->info = *info;
    *(pending->last ? &pending->last->next : &pending->first) = one;
    pending->last = one;
    all++;
    return 0;
}

/* `previous`: NULL, if it is the first. */
static void strike(struct pending *pending, struct pending_signal *one, struct pending_signal *previous) {
    *(previous ? &previous->next : &pending->first) = one->next;
    if (pending->last == one)
        pending->last = previous;
    memory_give(one);
    all--;
}

bool pending_take(struct pending *pending, uint64_t of, siginfo_t *info) {
    if (!(pending->set & of))
        return false;
    int signal = __builtin_ctzll(pending->set & of) + 1;
    struct pending_signal *found = NULL, *before = NULL, *previous = NULL;
    bool more = false;
    for (struct pending_signal *one = pending->first; one; previous = one, one = one->next) {
        if (one->info.si_signo != signal)
            continue;
        more = found;
        if (found)
            break;
        found = one;
        before = previous;
    }
    if (!more)
        pending->set &= ~signal_bit(signal);
    *info = found ? found->info : (siginfo_t){.si_signo = signal, .si_code = SI_USER};
    if (found)
        strike(pending, found, before);
    return true;
}

siginfo_t *pending_of_timer(const struct pending *pending, int signal, int timer) {
    for (struct pending_signal *one = pending->first; one; one = one->next)
        if (one->info.si_signo == signal && one->info.si_code == SI_TIMER && one->info.si_timerid == timer)
            return &one->info;
    return NULL;
}

void pending_forget(struct pending *pending, uint64_t signals) {
    struct pending_signal *previous = NULL, *next;
    for (struct pending_signal *one = pending->first; one; one = next) {
        next = one->next;
        if (signals & signal_bit(one->info.si_signo))
            strike(pending, one, previous);
        else
            previous = one;
    }
    pending->set &= ~signals;
}
