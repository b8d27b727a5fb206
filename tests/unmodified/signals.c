/* Signals to threads: a handler runs in the thread that is meant, a wait is interrupted, one waits for a signal. */
#include <errno.h>
#include <sched.h>
#include <semaphore.h>
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

static sem_t posted;

static void *post(void *of) {
    int before = handled;
    while (handled == before) { /* it may not wait yet */
        CHECK(pthread_kill(*(pthread_t *)of, SIGUSR1) == 0);
        usleep(1000);
    }
    CHECK(sem_post(&posted) == 0);
    return NULL;
}

/* A wait for a semaphore goes on after a handler with SA_RESTART, and only then. */
static void restart(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handle;
    CHECK(sem_init(&posted, 0, 0) == 0);
    for (int allowed = 0; allowed < 2; allowed++) {
        pthread_t other;
        action.sa_flags = allowed ? SA_RESTART : 0;
        CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
        CHECK(pthread_create(&other, NULL, post, &target) == 0);
        int result = sem_wait(&posted);
        CHECK(result == 0 || (!allowed && errno == EINTR && sem_wait(&posted) == 0));
        CHECK(pthread_join(other, NULL) == 0);
    }
}

/* What is blocked pends, and comes when it no longer is. */
static void pend(void) {
    sigset_t set, pending;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
    handled = 0;
    CHECK(raise(SIGUSR1) == 0 && sigpending(&pending) == 0);
    CHECK(sigismember(&pending, SIGUSR1) == 1 && handled == 0);
    CHECK(pthread_sigmask(SIG_UNBLOCK, &set, NULL) == 0 && handled == 1);
    CHECK(sigpending(&pending) == 0 && sigismember(&pending, SIGUSR1) == 0);
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
    restart();
    pend();
    handled = 0;
    CHECK(raise(SIGUSR1) == 0 && handled == 1);
}
