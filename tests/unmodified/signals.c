/* Signals to threads: a handler runs in the thread that is meant, a wait is interrupted, one waits for a signal. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

static pthread_t target;
static volatile sig_atomic_t handled, ready;

static void handle(int signal) {
    CHECK(signal == SIGUSR1 && pthread_equal(pthread_self(), target));
    handled++;
}

static void *sleep_long(void *unused) {
    ready = 1;
    CHECK(nanosleep(&(struct timespec){.tv_sec = 1000}, NULL) == -1 && errno == EINTR);
    return unused;
}

static void *await(void *unused) {
    sigset_t set;
    int signal;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    ready = 1;
    CHECK(sigwait(&set, &signal) == 0 && signal == SIGUSR2);
    return unused;
}

static void begin(void *(*run)(void *)) {
    ready = 0;
    CHECK(pthread_create(&target, NULL, run, NULL) == 0);
    while (!ready)
        sched_yield();
}

int main(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handle;
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    begin(sleep_long);
    while (!handled) { /* it may not sleep yet, and then it sleeps all the same */
        CHECK(pthread_kill(target, SIGUSR1) == 0);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    while (pthread_tryjoin_np(target, NULL) == EBUSY) {
        pthread_kill(target, SIGUSR1);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
    begin(await);
    CHECK(kill(getpid(), SIGUSR2) == 0 && pthread_join(target, NULL) == 0);
    begin(await);
    CHECK(pthread_kill(target, SIGUSR2) == 0 && pthread_join(target, NULL) == 0);
    target = pthread_self();
    handled = 0;
    CHECK(raise(SIGUSR1) == 0 && handled == 1);
}
