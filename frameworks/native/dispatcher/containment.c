/*
 * A program outlives its policy: when that breaks a rule, the built-in FIFO takes over its threads.
 */
#include "dispatcher/state.h"
#include "dispatcher/trace.h"

/* In the frame of another processor, or of a turn that waits for one; but for that in which the event was raised: what
 * was RUNNING there is READY now, and whoever has raised it ends the turn. */
static bool runs_elsewhere(const struct dispatcher_thread *member) {
    const struct processor *here = processor_here();
    uint16_t frame = dispatcher.several ? dispatcher_frame_of(member) : NOBODY;
    return frame != NOBODY && frame != here->frame && frame != here->sees;
}

static void file(struct scheduler *scheduler, struct dispatcher_thread *member, const struct dispatcher_thread *runs) {
    const struct native_handlers *builtin = dispatcher_builtin.handlers;
    dispatcher_builtin.adopt(scheduler->instance, &member->policy);
    if (!dispatcher_is_runnable(member))
        builtin->suspend_thread(scheduler->instance, &member->policy);
    else if (member != runs && !runs_elsewhere(member))
        builtin->newthread(scheduler->instance, &member->policy);
}

void dispatcher_contain(struct scheduler *scheduler, const char *event, const struct catapults_stop *stop,
                        const char *text, const struct dispatcher_thread *runs) {
    struct dispatcher_failure failure = {
        .scheduler = scheduler, .policy = scheduler->policy, .event = event, .stop = stop, .text = text};
    failure.starved = dispatcher.starved;
    if (stop == &dispatcher_overran) {
        failure.stop = NULL;
        failure.overran = true;
    }
    if (scheduler->policy == &dispatcher_builtin)
        __builtin_trap(); /* it never stops: a fault of this runtime */
    if (UNLIKELY(scheduler->node != NULL)) {
        dispatcher_nodes_end();
        scheduler = &dispatcher.root;
    }
    dispatcher_put_in_force(scheduler, &dispatcher_builtin, scheduler->builtin);
    dispatcher_clock_start(scheduler);
    dispatcher_builtin.start(scheduler->instance);
    runs = dispatcher_member(scheduler, runs);
    for (struct dispatcher_thread *thread = dispatcher.oldest; thread; thread = thread->newer) {
        if (thread->scheduler != scheduler || thread->state == THREAD_ENDED)
            continue;
        file(scheduler, thread, runs);
        failure.threads++;
    }
    for (struct scheduler *child = dispatcher.root.next; child; child = child->next) {
        if (child->parent != scheduler)
            continue;
        for (struct dispatcher_thread *record = &child->record; record; record = record->newer)
            if (record->state != THREAD_ENDED)
                file(scheduler, record, runs);
        failure.threads++;
    }
    if (__builtin_expect(dispatcher_trace != NULL, 0))
        dispatcher_record(TRACE_POLICY_OUT, NULL, 0)->line = stop ? stop->line : 0;
    dispatcher.host->contained(&failure);
}
