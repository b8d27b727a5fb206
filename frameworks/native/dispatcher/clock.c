/*
 * What a policy is told of time: what time it is (`now`), and how long each thread has run (the import `consumed`); and
 * where its timers are, for idle.c. A
 * policy that looks at neither is told nothing, and the clock is not read.
 *
 * A thread is charged from the moment at which it goes on until the event by which it stops. What lies between two
 * threads, the policy's decision and the time in which nothing is ready, nobody is charged for.
 */
#include "dispatcher/state.h"

static bool is_consumed(const struct catapults_import *import) {
    static const char name[] = "consumed";
    unsigned length = 0;
    while (length < sizeof name && import->name[length] == name[length])
        length++;
    return length == sizeof name && import->type == CATAPULTS_IMPORT_TIME;
}

void dispatcher_clock_start(void) {
    const struct catapults_policy *policy = dispatcher.policy;
    dispatcher.now = policy->now ? (catapults_time *)((char *)dispatcher.instance + policy->now) : NULL;
    dispatcher.timeouts =
        policy->timers ? (struct catapults_timers *)((char *)dispatcher.instance + policy->timers) : NULL;
    dispatcher.consumed = NULL;
    for (uint32_t i = 0; i < policy->thread_imports_count; i++)
        if (is_consumed(&policy->thread_imports[i]))
            dispatcher.consumed = &policy->thread_imports[i];
    dispatcher.told = dispatcher.host->now();
    dispatcher.clocked = dispatcher.now || dispatcher.consumed;
}

static catapults_time *consumed_by(struct dispatcher_thread *thread) {
    return (catapults_time *)((char *)&thread->policy + dispatcher.consumed->fallback);
}

void dispatcher_clock_adopt(struct dispatcher_thread *thread) {
    if (dispatcher.consumed)
        *consumed_by(thread) = 0;
}

void dispatcher_tell(bool running) {
    int64_t now = dispatcher.host->now();
    if (dispatcher.now)
        *dispatcher.now = now;
    if (running && dispatcher.consumed && dispatcher.current && !dispatcher.polling)
        *consumed_by(dispatcher.current) += now - dispatcher.told;
    dispatcher.told = now;
}
