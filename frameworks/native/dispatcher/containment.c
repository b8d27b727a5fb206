/*
 * A program outlives its policy: when that breaks a rule, the built-in FIFO takes over its threads.
 */
#include "dispatcher/state.h"
#include "dispatcher/trace.h"

void dispatcher_contain(struct scheduler *scheduler, const char *event, const struct catapults_stop *stop,
                        const char *text, const struct dispatcher_thread *running) {
    struct dispatcher_failure failure = {.policy = scheduler->policy, .event = event, .stop = stop, .text = text};
    if (scheduler->policy == &dispatcher_builtin)
        __builtin_trap(); /* it never stops: a fault of this runtime */
    const struct native_handlers *builtin = dispatcher_builtin.handlers;
    void *instance = scheduler->builtin;
    scheduler->policy = &dispatcher_builtin;
    scheduler->handlers = builtin;
    scheduler->instance = instance;
    dispatcher_clock_start(scheduler);
    scheduler->inlined = false;
    dispatcher_builtin.start(instance);
    for (struct dispatcher_thread *thread = dispatcher.oldest; thread; thread = thread->newer) {
        if (thread->scheduler != scheduler)
            continue;
        dispatcher_builtin.adopt(instance, &thread->policy);
        if (thread->state != THREAD_RUNNABLE)
            builtin->suspend_thread(instance, &thread->policy);
        else if (thread != running)
            builtin->newthread(instance, &thread->policy);
        failure.threads++;
    }
    if (__builtin_expect(dispatcher_trace != NULL, 0))
        dispatcher_record(TRACE_POLICY_OUT, 0, stop ? (uint16_t)stop->line : 0);
    dispatcher.host->contained(&failure);
}
