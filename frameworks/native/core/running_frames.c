/*
 * One instance of a policy for several processors (1996, §4.3). A policy is written for one processor: at most one
 * thread is RUNNING, and proofs about the policy depend on that. So each processor has a frame, which holds the
 * containers of class RUNNING. Before an event is raised, the frame of its processor is put into the instance. All else
 * is shared.
 *
 *     instance   │ current │ ready, waiting, variables │ frame 0 │ frame 1 │ …
 *                     ▲                                   ▲ nobody's
 *                     └── that of the frame which is shown
 *
 * A handler does not see threads that run on other processors: they are in none of its containers. Frames are exchanged
 * only when another processor's event comes.
 *
 * An event that may make a thread READY can be raised in any frame. The policy then decides whether the thread takes
 * the processor from what is RUNNING in that frame. Which frame is used?
 *
 *   - If the policy has one order for READY threads (`ready_order`): the frame whose thread comes last in that order.
 *     So no running thread comes after a READY one, as with one processor.
 *   - Otherwise: the frame of the processor that raises the event.
 */
#include "core/frames.h"
#include "core/hand_over.h"
#include "core/nodes.h"
#include "core/ready.h"
#include "core/running_frames.h"
#include "core/tree.h"

static void copy(char *to, const char *from, uint32_t size) {
    for (uint32_t i = 0; i < size; i++)
        to[i] = from[i];
}

static uint32_t rounded(uint32_t size) { return (size + 15) & ~(uint32_t)15; }

static uint32_t frame_size(const struct catapults_policy *policy) {
    uint32_t size = 0;
    for (uint32_t i = 0; i < policy->running_count; i++)
        size += policy->running[i].size;
    return size;
}

unsigned long core_instance_size(const struct catapults_policy *policy, bool several) {
    if (policy->shared_size)
        return rounded(policy->shared_size) + core_node_size(policy);
    return rounded(policy->instance_size) + (several ? rounded(frame_size(policy) * FRAMES) : 0);
}

/* Keeps what is in the instance, and puts there what was kept. NULL: does not. */
static void exchange(const struct scheduler *scheduler, char *keep, const char *kept) {
    const struct catapults_policy *policy = scheduler->policy;
    for (uint32_t i = 0; i < policy->running_count; i++) {
        char *part = (char *)scheduler->instance + policy->running[i].offset;
        uint32_t size = policy->running[i].size;
        if (keep) {
            copy(keep, part, size);
            keep += size;
        }
        if (kept) {
            copy(part, kept, size);
            kept += size;
        }
    }
}

void core_show(struct scheduler *scheduler, uint16_t frame) {
    uint16_t before = scheduler->frame;
    if (LIKELY(before == frame))
        return;
    scheduler->frame = frame;
    scheduler->told_in[before] = scheduler->told;
    scheduler->told = scheduler->told_in[frame];
    if (scheduler->frames)
        exchange(scheduler, scheduler->frames + before * scheduler->frame_size,
                 scheduler->frames + frame * scheduler->frame_size);
}

void core_running_frames_start(struct processor *here, struct scheduler *scheduler) {
    scheduler->frame = NOBODY;
    scheduler->frames = NULL;
    scheduler->frame_size = frame_size(scheduler->policy);
    if (!here->core->several || scheduler->frame_size == 0 || scheduler->shared)
        return;
    scheduler->frames = (char *)scheduler->instance + rounded(scheduler->policy->instance_size);
    for (uint32_t i = 0; i < FRAMES; i++)
        exchange(scheduler, scheduler->frames + i * scheduler->frame_size, NULL);
}

/* ---- Whose processor an event may take --------------------------------------------------------------------------- */

/* Whether an idle processor takes what becomes READY now, and others take all that is READY and was not fetched yet. */
static bool is_taken_up(struct processor *here, bool runs, const struct dispatcher_thread *thread) {
    struct core *core = here->core;
    int64_t idle =
        !here->asleep && !here->woken && !here->parked && !runs && (!thread || core_may_run_on(here, thread, here));
    for (uint32_t i = 0; i < core->processors_count; i++) {
        const struct processor *one = core->processors[i];
        idle += (one->asleep || one->woken) && !one->parked && !one->turns_first &&
                (!thread || core_may_run_on(here, thread, one));
    }
    return idle > core_ready(here);
}

int core_order(struct processor *here, const struct dispatcher_thread *a, const struct dispatcher_thread *b) {
    for (const struct scheduler *scheduler = &here->core->root;;) {
        const struct dispatcher_thread *one = core_member(here, scheduler, a);
        const struct dispatcher_thread *other = core_member(here, scheduler, b);
        if (!one || !other) /* each is in an instance of its own: see nodes.c */
            return 0;
        if (one->is_scheduler && other->is_scheduler && one->below == other->below) {
            scheduler = one->below;
            continue;
        }
        return scheduler->policy->ready_order ? scheduler->policy->ready_order(&one->policy, &other->policy) : 0;
    }
}

/* Whether all threads are under one policy that has one order. In a tree, code that raises an event counts on its own
 * frame, as long as something is RUNNING there. */
static bool is_in_order(struct processor *here) {
    return here->core->root.policy->ready_order && !here->core->root.next;
}

/* The turn there, which may be preempted for `thread`; NULL: none. */
static const struct dispatcher_thread *turn_on(struct processor *here, const struct processor *one,
                                               const struct dispatcher_thread *thread) {
    if (one->parked || (thread && !core_may_run_on(here, thread, one)))
        return NULL;
    return here->core->running_frames[one->frame].turn;
}

/* The frame whose RUNNING thread comes last; that of this processor if none comes after. NOBODY: nothing is RUNNING. */
static uint16_t frame_of_last(struct processor *here, const struct dispatcher_thread *thread) {
    struct core *core = here->core;
    const struct dispatcher_thread *last = turn_on(here, here, thread);
    if (last && core_is_taken(here, last))
        last = NULL; /* it is about to give the processor up */
    uint16_t frame = last ? here->frame : NOBODY;
    for (uint32_t i = 0; i < core->processors_count; i++) {
        const struct processor *one = core->processors[i];
        const struct dispatcher_thread *turn = one != here ? turn_on(here, one, thread) : NULL;
        if (turn && (!last || (is_in_order(here) && core_order(here, last, turn) < 0))) {
            last = turn;
            frame = one->frame;
        }
    }
    return frame;
}

/* The processor is between two turns, and its next one is for what becomes READY. Not if that has happened already, or
 * if the thread that gave it up is READY, and may come first. */
static bool expects(struct processor *here, const struct dispatcher_thread *thread) {
    if (here->parked || here->expected || (thread && !core_may_run_on(here, thread, here)))
        return false;
    const struct dispatcher_thread *left = here->current;
    return left == &here->idle || !is_in_order(here) || !taken_from(left);
}

uint16_t core_frame_to_take(struct processor *here, const struct dispatcher_thread *thread) {
    struct core *core = here->core;
    if (!is_in_order(here))
        thread = NULL;
    const struct dispatcher_thread *turn = core->running_frames[here->frame].turn;
    bool idle = core->asleep + core->waking != 0;
    if (idle && is_taken_up(here, turn && !core_is_taken(here, turn), thread))
        return NOBODY;
    if (here->turns_first && !turn && (!thread || core_may_run_on(here, thread, here)))
        return here->turns_first->turn_frame;
    if (!turn && !idle && expects(here, thread)) {
        here->expected = true;
        return here->frame;
    }
    return frame_of_last(here, thread);
}

void core_come_back(struct processor *here) {
    uint16_t frame = here->sees;
    const struct dispatcher_thread *turn = here->core->running_frames[frame].turn;
    here->sees = here->frame;
    if (turn && core_is_taken(here, turn))
        core_end_turn(here, frame);
}
