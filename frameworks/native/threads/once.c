/*
 * Once. Compiled with exceptions: whichever way the routine is left, `settle` runs. A child of fork begins anew what
 * was under way.
 */
#include "process/runtime.h"
#include "threads/waiters.h"

/* UNDER_WAY, with the process (runtime.forks) above these bits. */
enum { UNDONE, DONE, UNDER_WAY, STATE_BITS = 2 };

struct attempt {
    catapults_once_t *once;
    uint64_t outcome;
};

static void settle(struct attempt *attempt);

int catapults_once(catapults_once_t *once, void (*routine)(void)) {
    dispatcher_enter();
    const uint64_t under_way = runtime.forks << STATE_BITS | UNDER_WAY;
    while (once->state == under_way)
        waiters_wait(&once->waiters, handle_self(), BLOCK_CONDITION, CATAPULTS_FOREVER);
    bool done = once->state == DONE;
    if (!done)
        once->state = under_way;
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
