/*
 * A program outlives its policy: when that breaks a rule, the built-in FIFO takes over its threads.
 */
#include "dispatcher/state.h"
#include "dispatcher/trace.h"

/* In a frame but that in which the event was raised: what was RUNNING there is READY now, and whoever has raised it
 * ends the turn. */
static bool runs_elsewhere(const struct dispatcher_thread *member) {
    uint16_t frame = dispatcher.several ? dispatcher_frame_of(member) : NOBODY;
    return frame != NOBODY && frame != processor_here()->sees;
}

/* `before`: the policy that is out. What that had READY is so, even if its turn has yet to end. */
static void file(struct scheduler *scheduler, struct dispatcher_thread *member, const struct catapults_policy *before,
                 const struct dispatcher_thread *runs) {
    const struct native_handlers *builtin = dispatcher_builtin.handlers;
    bool ready = before->classes[member->policy.container] == CATAPULTS_READY;
    dispatcher_builtin.adopt(scheduler->instance, &member->policy);
    if (!dispatcher_is_runnable(member))
        builtin->suspend_thread(scheduler->instance, &member->policy);
    else if (member != runs && (ready || !runs_elsewhere(member)))
        builtin->newthread(scheduler->instance, &member->policy);
}

/* From what is READY the policy had taken the processor: it gives it up. */
static void end_turns_of_ready(const struct scheduler *scheduler) {
    const struct processor *here = processor_here();
    for (uint16_t frame = NOBODY + 1; dispatcher.several && frame < dispatcher.frames_end; frame++) {
        const struct dispatcher_thread *turn = dispatcher.running_frames[frame].turn;
        const struct dispatcher_thread *member = turn ? dispatcher_member(scheduler, turn) : NULL;
        if (member && taken_from(member) && frame != here->frame && frame != here->sees)
            dispatcher_end_turn(frame);
    }
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
    scheduler->declined = false; /* that was the other policy, or an instance of it */
    dispatcher_builtin.start(scheduler->instance);
    runs = dispatcher_member(scheduler, runs);
    for (struct dispatcher_thread *thread = dispatcher.oldest; thread; thread = thread->newer) {
        if (thread->scheduler != scheduler || thread->state == THREAD_ENDED)
            continue;
        file(scheduler, thread, failure.policy, runs);
        failure.threads++;
    }
    for (struct scheduler *child = dispatcher.root.next; child; child = child->next) {
        if (child->parent != scheduler)
            continue;
        for (struct dispatcher_thread *record = &child->record; record; record = record->newer)
            if (record->state != THREAD_ENDED)
                file(scheduler, record, failure.policy, runs);
        failure.threads++;
    }
    end_turns_of_ready(scheduler);
    if (__builtin_expect(dispatcher_trace != NULL, 0))
        dispatcher_record(TRACE_POLICY_OUT, NULL, 0)->line = stop ? stop->line : 0;
    dispatcher.host->contained(&failure);
}
