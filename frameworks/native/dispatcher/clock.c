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

void dispatcher_clock_start(struct scheduler *scheduler) {
    const struct catapults_policy *policy = scheduler->policy;
    char *instance = scheduler->instance;
    scheduler->now = policy->now ? (catapults_time *)(instance + policy->now) : NULL;
    scheduler->timeouts = policy->timers ? (struct catapults_timers *)(instance + policy->timers) : NULL;
    scheduler->consumed = NULL;
    for (uint32_t i = 0; i < policy->thread_imports_count; i++)
        if (is_consumed(&policy->thread_imports[i]))
            scheduler->consumed = &policy->thread_imports[i];
    scheduler->told = dispatcher.host->now();
    scheduler->clocked = scheduler->now || scheduler->consumed;
    scheduler->timed = scheduler->timeouts || scheduler->handlers->tick;
    if (scheduler->timed && dispatcher.host->arm)
        processor_here()->timed = true;
}

static catapults_time *consumed_by(struct dispatcher_thread *thread) {
    return (catapults_time *)((char *)&thread->policy + thread->scheduler->consumed->fallback);
}

void dispatcher_clock_adopt(struct dispatcher_thread *thread) {
    if (thread->scheduler->consumed)
        *consumed_by(thread) = 0;
}

void dispatcher_tell(struct scheduler *scheduler, bool running) {
    const struct processor *here = processor_here();
    int64_t now = dispatcher.host->now();
    if (scheduler->now)
        *scheduler->now = now;
    if (running && scheduler->consumed && !here->polling) {
        struct dispatcher_thread *member = dispatcher_member(scheduler, here->turn);
        if (member)
            *consumed_by(member) += now - scheduler->told;
    }
    scheduler->told = now;
}
