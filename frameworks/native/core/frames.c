/*
 * Frames (see running_frames.c): which are in use, whose turn it is in each, and who runs on it.
 */
#include "core/blocked_donors.h"
#include "core/decide.h"
#include "core/frames.h"
#include "core/nodes.h"
#include "core/outside.h"
#include "core/tree.h"

void core_set_turn(struct processor *here, uint16_t frame, struct dispatcher_thread *turn) {
    struct core *core = here->core;
    struct running_frame *one = &core->running_frames[frame];
    core->running += (turn != NULL) - (one->turn != NULL);
    if (!turn && one->turn) {
        core_changed(here, one->turn);
        core_set_runs(here, frame, NULL);
    }
    one->turn = turn;
}

void core_set_runs(struct processor *here, uint16_t frame, struct dispatcher_thread *thread) {
    struct running_frame *one = &here->core->running_frames[frame];
    struct dispatcher_thread *before = one->runs;
    one->runs = thread;
    if (before && before != thread) {
        before->runs_in = NOBODY;
        core_changed(here, before);
    }
    if (thread)
        thread->runs_in = frame;
}

uint16_t core_new_frame(struct processor *here) {
    struct core *core = here->core;
    uint16_t frame = core->free_frames;
    core->free_frames = core->running_frames[frame].next;
    core_in_use(here, frame);
    return frame;
}

void core_give_frame(struct processor *here, uint16_t frame) {
    struct core *core = here->core;
    core->running_frames[frame].next = core->free_frames;
    core->free_frames = frame;
}

void core_move_to(struct processor *processor, uint16_t frame) {
    processor->frame = frame;
    processor->sees = frame;
}

void core_take_frame(struct processor *here, struct processor *processor) {
    core_move_to(processor, core_new_frame(here));
}

uint16_t core_frame_of(struct processor *here, const struct dispatcher_thread *member) {
    struct core *core = here->core;
    for (uint16_t frame = NOBODY + 1; frame < core->frames_end; frame++) {
        const struct dispatcher_thread *turn = core->running_frames[frame].turn;
        if (turn && core_member(here, member->scheduler, turn) == member)
            return frame;
    }
    return NOBODY;
}

uint16_t core_see(struct processor *here, const struct dispatcher_thread *thread) {
    uint16_t frame = here->core->several ? core_frame_of(here, thread) : NOBODY;
    if (frame == NOBODY || frame == here->frame)
        return NOBODY;
    here->sees = frame;
    return frame;
}

void core_seen(struct processor *here, const struct dispatcher_thread *thread, uint16_t frame) {
    here->sees = here->frame;
    if (!core_is_runnable(thread) || taken_from(thread))
        core_end_turn(here, frame);
}

void core_give_up_all(struct processor *here, struct dispatcher_thread *turn, uint16_t frame) {
    bool saw_own = here->sees == here->frame;
    uint16_t sees = here->sees;
    here->sees = frame;
    if (core_is_runnable(turn))
        core_switch_out(here, turn);
    core_give_up(here, turn);
    here->sees = saw_own ? here->frame : sees; /* it is given one if the policy is out and had nodes */
}

struct processor *core_runner_of(struct processor *here, uint16_t frame) {
    struct core *core = here->core;
    for (uint32_t i = 0; i < core->processors_count; i++)
        if (core->processors[i]->frame == frame)
            return core->processors[i];
    return NULL;
}

void core_end_turn(struct processor *here, uint16_t frame) {
    struct core *core = here->core;
    struct dispatcher_thread *turn = core->running_frames[frame].turn;
    bool waits = turn->turn_waits, nodes = core->root.node != NULL;
    if (waits)
        core_leave_queue(here, turn);
    if (UNLIKELY(turn->scheduler->parent != NULL))
        core_give_up_all(here, turn, frame);
    else if (core_is_runnable(turn) && !waits) /* else no record says that it runs */
        TRACE(TRACE_SWITCHED_OUT, turn, 0);
    core_set_turn(here, frame, NULL);
    if (waits) {
        if (LIKELY(!nodes))
            core_give_frame(here, frame);
        else if (core->root.node) /* else the policy was just out, and the frame was given out then */
            core_noticed(here, core->processors[frame - 1]->scheduler);
        return;
    }
    for (uint32_t i = 0; i < core->processors_count; i++) {
        struct processor *there = core->processors[i];
        if (there->frame != frame)
            continue;
        there->over = true;
        if (core->root.node)
            core_move_to(there, NOBODY); /* by the time that it comes, its own may be another's */
        if (there != here)
            core_tell_other(here, there, INTERRUPT);
    }
    if (core->root.node)
        core_noticed(here, core->processors[frame - 1]->scheduler);
}

void core_end_turns_under(struct processor *here, const struct scheduler *scheduler) {
    struct core *core = here->core;
    for (uint16_t frame = NOBODY + 1; frame < core->frames_end; frame++) {
        const struct dispatcher_thread *turn = core->running_frames[frame].turn;
        if (turn && frame != here->frame && core_member(here, scheduler, turn))
            core_end_turn(here, frame);
    }
}

void core_give_out_frames(struct processor *here) {
    struct core *core = here->core;
    bool used[FRAMES] = {false};
    for (uint32_t i = 0; i < core->processors_count; i++) {
        const struct processor *one = core->processors[i];
        used[one->frame] = true;
        for (const struct dispatcher_thread *turn = one->turns_first; turn; turn = turn->turn_next)
            used[turn->turn_frame] = true;
    }
    core->free_frames = NOBODY;
    for (uint16_t frame = FRAMES - 1; frame > NOBODY; frame--)
        if (!used[frame])
            core_give_frame(here, frame);
    for (uint32_t i = 0; i < core->processors_count; i++) {
        struct processor *one = core->processors[i];
        bool sees_own = one->sees == one->frame; /* else it is about to end the turn of another frame */
        if (one->frame == NOBODY)
            one->frame = core_new_frame(here);
        if (sees_own)
            one->sees = one->frame;
    }
}

void core_interrupt_others(struct processor *here) {
    struct core *core = here->core;
    for (uint32_t i = 0; i < core->processors_count; i++) {
        struct processor *there = core->processors[i];
        if (there != here && there->current != &there->idle && !there->armed)
            core_tell_other(here, there, INTERRUPT);
    }
}
