/*
 * A program outlives its policy: if that breaks a rule, the built-in FIFO takes over its threads.
 */
#include "core/clock.h"
#include "core/containment.h"
#include "core/frames.h"
#include "core/in_force.h"
#include "core/nodes.h"
#include "core/tree.h"

const struct catapults_stop core_overran = {CATAPULTS_STOP_GUARD, 0, "it ran for too long"};

/* In another frame than the one in which the event was raised. What was RUNNING in that one is READY now, and the code
 * that raised the event ends the turn. */
static bool runs_elsewhere(struct processor *here, const struct dispatcher_thread *member) {
    uint16_t frame = here->core->several ? core_frame_of(here, member) : NOBODY;
    return frame != NOBODY && frame != here->sees;
}

/* `before`: the policy that is out. What it had READY is so, even if its turn has yet to end. */
static void file(struct processor *here, struct scheduler *scheduler, struct dispatcher_thread *member,
                 const struct catapults_policy *before, const struct dispatcher_thread *runs) {
    const struct native_handlers *builtin = dispatcher_builtin.handlers;
    bool ready = before->classes[member->policy.container] == CATAPULTS_READY;
    dispatcher_builtin.adopt(scheduler->instance, &member->policy);
    if (!core_is_runnable(member))
        builtin->suspend_thread(scheduler->instance, &member->policy);
    else if (member != runs && (ready || !runs_elsewhere(here, member)))
        builtin->newthread(scheduler->instance, &member->policy);
}

/* Members that are READY, because the policy had taken the processor from them, give it up. */
static void end_turns_of_ready(struct processor *here, const struct scheduler *scheduler) {
    struct core *core = here->core;
    for (uint16_t frame = NOBODY + 1; core->several && frame < core->frames_end; frame++) {
        const struct dispatcher_thread *turn = core->running_frames[frame].turn;
        const struct dispatcher_thread *member = turn ? core_member(here, scheduler, turn) : NULL;
        if (member && taken_from(member) && frame != here->frame && frame != here->sees)
            core_end_turn(here, frame);
    }
}

void core_contain(struct processor *here, struct scheduler *scheduler, const char *event,
                  const struct catapults_stop *stop, const char *text, const struct dispatcher_thread *runs) {
    struct core *core = here->core;
    struct dispatcher_failure failure = {
        .scheduler = scheduler, .policy = scheduler->policy, .event = event, .stop = stop, .text = text};
    failure.starved = core->starved;
    if (stop == &core_overran) {
        failure.stop = NULL;
        failure.overran = true;
    }
    if (scheduler->policy == &dispatcher_builtin)
        __builtin_trap(); /* it never stops: a fault of this runtime */
    if (UNLIKELY(scheduler->node != NULL)) {
        core_nodes_end(here);
        scheduler = &core->root;
    }
    core_put_in_force(here, scheduler, &dispatcher_builtin, scheduler->builtin);
    core_clock_start(here, scheduler);
    scheduler->declined = false; /* that was the other policy, or an instance of it */
    dispatcher_builtin.start(scheduler->instance);
    runs = core_member(here, scheduler, runs);
    for (struct dispatcher_thread *thread = core->oldest; thread; thread = thread->newer) {
        if (thread->scheduler != scheduler || thread->state == THREAD_ENDED)
            continue;
        file(here, scheduler, thread, failure.policy, runs);
        failure.threads++;
    }
    for (struct scheduler *child = core->root.next; child; child = child->next) {
        if (child->parent != scheduler)
            continue;
        for (struct dispatcher_thread *record = &child->record; record; record = record->newer)
            if (record->state != THREAD_ENDED)
                file(here, scheduler, record, failure.policy, runs);
        failure.threads++;
    }
    end_turns_of_ready(here, scheduler);
    if (UNLIKELY(core->recorder != NULL))
        core->recorder->policy_out(stop ? stop->line : 0);
    core->host->contained(&failure);
}
