/*
 * The world outside: timers and the driver. It is attended to whenever nothing is ready, and otherwise every so many
 * decisions: as many as fit between two glances SHORT to LONG apart, so that neither a thousand quick turns pay for a
 * look at the clock each, nor a few long ones keep finished operations waiting.
 */
#include "dispatcher/state.h"
#include "dispatcher/trace.h"

enum {
    SHORT = 20000, /* nanoseconds */
    LONG = 60000,
    MOST = 1024 /* decisions without a look, whatever the clock said last */
};

static void run_out(int64_t now);
static void expire(int64_t now);

/* More timers than this do not expire in a row: one that is armed anew for an instant that is past would never let the
 * threads run. */
enum { MOST_EXPIRED = 64 };

void dispatcher_attend(void) {
    int64_t now = dispatcher.host->now(), passed = now - dispatcher.attended;
    if (passed < SHORT && dispatcher.patience_full < MOST)
        dispatcher.patience_full *= 2;
    else if (passed > LONG)
        dispatcher.patience_full =
            passed > 4 * LONG || dispatcher.patience_full == 1 ? 1 : dispatcher.patience_full / 2;
    dispatcher.patience = dispatcher.patience_full;
    dispatcher.attended = now;
    dispatcher.polling = true;
    run_out(now);
    expire(now);
    if (dispatcher.driver && dispatcher.driver->busy())
        dispatcher.driver->poll(0);
    dispatcher.polling = false;
}

bool dispatcher_wait(void) {
    /* The policy's own timers make no thread RUNNABLE. */
    if (!dispatcher.timers && !dispatcher.driver->busy())
        return false;
    if (__builtin_expect(dispatcher_trace != NULL, 0))
        dispatcher_record(TRACE_IDLE, 0, 0);
    dispatcher.polling = true;
    int64_t instant = dispatcher.timers ? dispatcher.timers->instant : DISPATCHER_FOREVER;
    if (dispatcher.timeouts && dispatcher.timeouts->first && dispatcher.timeouts->first->instant < instant)
        instant = dispatcher.timeouts->first->instant;
    dispatcher.driver->poll(instant);
    dispatcher.attended = dispatcher.host->now();
    run_out(dispatcher.attended);
    expire(dispatcher.attended);
    dispatcher.polling = false;
    return true;
}

/* Raises the events of the policy's timers whose instant has come. */
static void expire(int64_t now) {
    for (int i = 0; dispatcher.timeouts && i < MOST_EXPIRED; i++) {
        struct catapults_timer *first = dispatcher.timeouts->first;
        if (!first || first->instant > now)
            return;
        const struct catapults_timeout *timeout = &dispatcher.policy->timeouts[first->timeout];
        tell(false);
        const struct catapults_stop *stop = timeout->raise(dispatcher.instance, first->thread);
        if (UNLIKELY(stop))
            dispatcher_contain(timeout->name, stop, NULL, NULL);
    }
}

static void run_out(int64_t now) {
    while (dispatcher.timers && dispatcher.timers->instant <= now) {
        struct dispatcher_thread *thread =
            (struct dispatcher_thread *)((char *)dispatcher.timers - offsetof(struct dispatcher_thread, timer));
        thread->timed_out = true;
        dispatcher_unblock(thread);
    }
}
