/*
 * What tests of signals of threads call most: with what is required of it.
 */
#ifndef SIGNAL_CALLS_H
#define SIGNAL_CALLS_H

#include <signal.h>
#include <stdbool.h>
#include <sys/time.h>

#include "catapults.h"
#include "support/child.h"

static inline void handle_with(int number, void (*handler)(int), int flags) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    require(catapults_sigaction(number, &action, NULL) == 0);
}

static inline void mask(int how, int number) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    require(catapults_sigmask(how, &set, NULL) == 0);
}

static inline bool is_blocked(int number) {
    sigset_t set;
    require(catapults_sigmask(SIG_BLOCK, NULL, &set) == 0);
    return sigismember(&set, number);
}

static inline bool is_pending(int number) {
    sigset_t set;
    require(catapults_sigpending(&set) == 0);
    return sigismember(&set, number);
}

/* SIGALRM after so many microseconds, and again. */
static inline void every(int microseconds) {
    struct itimerval often = {{0, microseconds}, {0, microseconds}};
    require(setitimer(ITIMER_REAL, &often, NULL) == 0);
}

#endif
