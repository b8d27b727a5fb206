/*
 * One instance of a policy for several processors (1996, §4.3). A policy is written for one processor: one thread at
 * most is RUNNING, and what is proved of it counts on that. So the containers of class RUNNING are put aside whenever
 * another processor's events come: each has a frame of its own, and all else is shared.
 *
 *     instance   │ current │ ready, waiting, variables │ frame 0 │ frame 1 │ …
 *                     ▲                                   ▲ nobody's
 *                     └── that of the frame which is shown
 *
 * To a handler a thread that runs elsewhere is in no container that it can see. Frames are exchanged when they are
 * needed: a processor that raises one event after the other exchanges nothing.
 */
#include "dispatcher/state.h"

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

unsigned long dispatcher_instance_size(const struct catapults_policy *policy, bool several) {
    if (policy->shared_size)
        return rounded(policy->shared_size) + dispatcher_node_size(policy);
    return rounded(policy->instance_size) + (several ? rounded(frame_size(policy) * FRAMES) : 0);
}

/* Keeps what is in the instance, and puts there what was kept. NULL: not that. */
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

void dispatcher_show(struct scheduler *scheduler, uint16_t frame) {
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

void dispatcher_frames_start(struct scheduler *scheduler) {
    scheduler->frame = NOBODY;
    scheduler->frames = NULL;
    scheduler->frame_size = frame_size(scheduler->policy);
    if (!dispatcher.several || scheduler->frame_size == 0 || scheduler->shared)
        return;
    scheduler->frames = (char *)scheduler->instance + rounded(scheduler->policy->instance_size);
    for (uint32_t i = 0; i < FRAMES; i++)
        exchange(scheduler, scheduler->frames + i * scheduler->frame_size, NULL);
}
