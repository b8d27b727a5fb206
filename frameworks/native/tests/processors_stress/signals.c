/*
 * Signals of random programs: threads send them to each other and to the process, and wait for them.
 */
#include <signal.h>

#include "processors_stress/processors_stress.h"

static atomic_long sent, taken;
bool with_signals;

/* Each is taken once: they queue. What is sent to who has ended is not counted. */
static void take_signal(int number) {
    int error = error_here();
    if (catapults_now() % 3 == 0)
        catapults_yield();
    atomic_fetch_add(&taken, number == SIGRTMIN);
    set_error_here(error);
}

static void send_signals(struct worker *self) {
    for (int i = any(self, 4); i >= 0; i--) {
        catapults_t thread = workers[any(self, WORKERS)].thread;
        int error = catapults_sigqueue(thread, SIGRTMIN, (union sigval){0});
        require(error == 0 || error == ESRCH || error == EAGAIN);
        atomic_fetch_add(&sent, error == 0);
    }
    if (any(self, 3) == 0)
        kill(getpid(), SIGUSR1);
}

/* One of the thread's own that it blocks is there when it looks. */
static void wait_for_signal(struct worker *self) {
    sigset_t set, before;
    siginfo_t info;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    require(catapults_sigmask(SIG_BLOCK, &set, &before) == 0);
    if (any(self, 2)) {
        int error = catapults_kill(catapults_self(), SIGUSR2), number;
        require(error == 0 || error == EAGAIN);
        catapults_yield();
        require(error != 0 || (catapults_sigwait(&set, &number) == 0 && number == SIGUSR2));
    } else {
        int number = catapults_sigtimedwait(&set, &info, catapults_now() + any(self, 200) * US);
        require(number == -1 && (error_here() == EAGAIN || error_here() == EINTR));
    }
    require(catapults_sigmask(SIG_SETMASK, &before, NULL) == 0);
}

void use_signals(struct worker *self) {
    if (with_signals && any(self, 3) == 0)
        wait_for_signal(self);
    else if (with_signals)
        send_signals(self);
}

void begin_signals(void) {
    struct sigaction action = {.sa_handler = take_signal, .sa_flags = SA_RESTART};
    require(catapults_sigaction(SIGRTMIN, &action, NULL) == 0);
    require(catapults_sigaction(SIGUSR1, &action, NULL) == 0);
}

void end_signals(void) { require(atomic_load(&taken) == atomic_load(&sent)); }
