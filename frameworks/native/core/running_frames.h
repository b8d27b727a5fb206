/*
 * What a policy has RUNNING, for each of several processors.
 */
#ifndef CATAPULTS_CORE_RUNNING_FRAMES_H
#define CATAPULTS_CORE_RUNNING_FRAMES_H

#include "core/state.h"

/* Puts what is RUNNING in a frame where the policy's handlers find it. */
void core_show(struct scheduler *scheduler, uint16_t frame);

/* The policy has been started: nothing is RUNNING in any frame. */
void core_running_frames_start(struct processor *here, struct scheduler *scheduler);

/* Of two turns. Less than 0: the policies dispatch the first one first, which are asked from the root down to where the
 * two part. */
int core_order(struct processor *here, const struct dispatcher_thread *a, const struct dispatcher_thread *b);

/* The frame in which an event by which `thread` may become READY (NULL: one of several) may take the processor from
 * somebody, if that runs something: see running_frames.c. NOBODY: there is none, or need not be, as one that has
 * nothing to do takes what the event is about. And back from there. */
uint16_t core_frame_to_take(struct processor *here, const struct dispatcher_thread *thread);
void core_come_back(struct processor *here);

/* An event about another thread is raised between these two, or about several: NULL. Within such a pair others may
 * stand: the first that ends ends what has been taken, and what is raised after it is so in the processor's own frame.
 */
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
