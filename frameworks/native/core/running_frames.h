/*
 * What a policy has RUNNING, for each of several processors.
 */
#ifndef CATAPULTS_CORE_RUNNING_FRAMES_H
#define CATAPULTS_CORE_RUNNING_FRAMES_H

#include "core/state.h"

/* Puts the RUNNING containers of a frame into the instance, where handlers find them. */
void core_show(struct scheduler *scheduler, uint16_t frame);

/* The policy has been started: nothing is RUNNING in any frame. */
void core_running_frames_start(struct processor *here, struct scheduler *scheduler);

/* Which of two turns comes first. Less than 0: the policies, asked from the root down to where the two part, dispatch
 * `a` first. */
int core_order(struct processor *here, const struct dispatcher_thread *a, const struct dispatcher_thread *b);

/* The frame in which an event is raised that may make `thread` READY (NULL: several threads). NOBODY: no processor is
 * to be taken from anybody, because an idle one will dispatch the thread. The second returns to the processor's own
 * frame.
 */
uint16_t core_frame_to_take(struct processor *here, const struct dispatcher_thread *thread);
void core_come_back(struct processor *here);

/* Around events of another thread, or of several (NULL). Such pairs may nest. The first step back ends the turn that
 * was taken, and whatever is raised after it is raised in the processor's own frame. */
static inline void core_step_aside(struct processor *here, const struct dispatcher_thread *thread) {
    struct core *core = here->core;
    if (UNLIKELY(core->several) && !core->root.node && here->sees == here->frame)
        here->sees = core_frame_to_take(here, thread);
}
static inline void core_step_back(struct processor *here) {
    if (UNLIKELY(here->sees != here->frame))
        core_come_back(here);
}

/* As in dispatcher/dispatcher.h. */
unsigned long core_instance_size(const struct catapults_policy *policy, bool several);

#endif
