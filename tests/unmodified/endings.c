/* A handler that is for one signal only; a signal that all who run block, but not the one that waits; a first thread
 * that ends, and is joined, and had a robust mutex. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "check.h"

static volatile sig_atomic_t handled, done;
static pthread_mutex_t robust;

static void handle(int signal) {
    (void)signal;
    handled++;
}

static void once(void) {
    struct sigaction action, now;
    memset(&action, 0, sizeof action);
    action.sa_handler = handle;
    action.sa_flags = (int)SA_RESETHAND;
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0 && kill(getpid(), SIGUSR1) == 0);
    while (!handled)
        sched_yield();
    CHECK(sigaction(SIGUSR1, NULL, &now) == 0 && now.sa_handler == SIG_DFL && handled == 1);
}

static void *compute(void *unused) {
    sigset_t all;
    sigfillset(&all);
    CHECK(pthread_sigmask(SIG_BLOCK, &all, NULL) == 0);
    while (!done)
        sched_yield();
    return unused;
}

static void wait_for_a_signal(void) {
    struct sigaction action;
    pthread_t threads[3];
    sigset_t alarms, before;
    memset(&action, 0, sizeof action);
    action.sa_handler = handle;
    CHECK(sigaction(SIGALRM, &action, NULL) == 0);
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, compute, NULL) == 0);
    CHECK(pthread_sigmask(SIG_BLOCK, &alarms, &before) == 0);
    handled = 0;
    CHECK(setitimer(ITIMER_REAL, &(struct itimerval){.it_value = {.tv_usec = 20000}}, NULL) == 0);
    CHECK(sigsuspend(&before) == -1 && errno == EINTR && handled == 1);
    done = 1;
    for (int i = 0; i < 3; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
}

static void *outlive(void *first) {
    CHECK(pthread_join(*(pthread_t *)first, NULL) == 0);
    CHECK(pthread_mutex_lock(&robust) == EOWNERDEAD);
    exit(EXIT_SUCCESS);
}

int main(void) {
    static pthread_t first;
    pthread_t last;
    pthread_mutexattr_t attributes;
    once();
    wait_for_a_signal();
    first = pthread_self();
    CHECK(pthread_mutexattr_init(&attributes) == 0);
    CHECK(pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST) == 0);
    CHECK(pthread_mutex_init(&robust, &attributes) == 0 && pthread_mutex_lock(&robust) == 0);
    CHECK(pthread_create(&last, NULL, outlive, &first) == 0);
    pthread_exit(NULL);
}
