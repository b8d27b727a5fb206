/*
 * What is done once. Compiled with exceptions: whichever way the routine is left, `settle` runs.
 */
#include "threads/waiters.h"

enum { UNDONE, UNDER_WAY, DONE };

struct attempt {
    catapults_once_t *once;
    uint32_t outcome;
};

static void settle(struct attempt *attempt);

int catapults_once(catapults_once_t *once, void (*routine)(void)) {
    dispatcher_enter();
    while (once->state == UNDER_WAY)
        waiters_wait(&once->waiters, handle_self(), BLOCK_CONDITION, CATAPULTS_FOREVER);
    bool done = once->state == DONE;
    if (!done)
        once->state = UNDER_WAY;
    dispatcher_leave();
    if (done)
        return 0;
    __attribute__((cleanup(settle))) struct attempt attempt = {once, UNDONE};
    routine();
    attempt.outcome = DONE;
    return 0;
}

static void settle(struct attempt *attempt) {
    dispatcher_enter();
    attempt->once->state = attempt->outcome;
    waiters_serve_all(&attempt->once->waiters);
    dispatcher_leave();
}
