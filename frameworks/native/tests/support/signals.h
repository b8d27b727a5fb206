/*
 * For tests of signals: a handler that counts, and what is short for calls.
 */
#ifndef CATAPULTS_TEST_SIGNALS_H
#define CATAPULTS_TEST_SIGNALS_H

#include <errno.h>
#include <sys/time.h>

#include "catapults.h"
#include "support/child.h"
#include "support/signal_calls.h"

enum { MS = 1000000 };

static volatile int handled, last, over, returned;
static catapults_t handled_by;

static inline void begin(void) {
    require(catapults_init(NULL) == 0);
    alarm(HANGS);
}

static inline catapults_t spawn(void *(*start)(void *), void *argument) {
    catapults_t thread;
    require(catapults_create(&thread, NULL, start, argument) == 0);
    return thread;
}

static inline void *join(catapults_t thread) {
    void *result;
    require(catapults_join(thread, &result) == 0);
    return result;
}

static inline void count(int number) {
    handled++;
    last = number;
    handled_by = catapults_self();
    errno = ENOTTY;
}

static inline sigset_t set_of(int first, int second) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, first);
    if (second)
        sigaddset(&set, second);
    return set;
}

/* What a thread returns whose call has returned. */
static inline void *finished(int result) {
    returned++;
    return (void *)(intptr_t)result;
}

/* The call returns EINTR; with SA_RESTART it goes on, until `end`. */
static inline void interrupts(void *(*body)(void *), void (*end)(void)) {
    handled = returned = 0;
    handle_with(SIGUSR1, count, 0);
    catapults_t thread = spawn(body, NULL);
    catapults_sleep(2 * MS);
    require(returned == 0);
    require(catapults_kill(thread, SIGUSR1) == 0);
    require((intptr_t)join(thread) == EINTR);
    require(handled == 1 && handled_by == thread);
    if (!end)
        return;
    handle_with(SIGUSR1, count, SA_RESTART);
    thread = spawn(body, NULL);
    for (int i = 0; i < 3; i++) {
        catapults_sleep(2 * MS);
        require(catapults_kill(thread, SIGUSR1) == 0);
    }
    catapults_sleep(2 * MS);
    require(handled == 4 && handled_by == thread && returned == 1);
    end();
    require(join(thread) == NULL);
}

#endif
