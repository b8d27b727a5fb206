/*
 * What is RUNNING on each processor, and who runs on that turn.
 */
#ifndef CATAPULTS_CORE_FRAMES_H
#define CATAPULTS_CORE_FRAMES_H

#include "core/state.h"

/* The processor on which the turn of the frame runs; NULL: none. */
struct processor *core_runner_of(struct processor *here, uint16_t frame);

/* The frame in which it is RUNNING; NOBODY: it is not. */
uint16_t core_frame_of(struct processor *here, const struct dispatcher_thread *member);

/* An event of a thread that may be RUNNING on another processor is raised between these two, in the frame where it is;
 * it may not be RUNNING any more then. NOBODY: it is not RUNNING on another, and the second is not needed. */
uint16_t core_see(struct processor *here, const struct dispatcher_thread *thread);
void core_seen(struct processor *here, const struct dispatcher_thread *thread, uint16_t frame);

/* It will be in use. */
static inline void core_in_use(struct processor *here, uint16_t frame) {
    struct core *core = here->core;
    if (frame >= core->frames_end)
        core->frames_end = frame + 1;
}

/* Of a processor that is new. */
void core_take_frame(struct processor *here, struct processor *processor);

/* Who runs on the turn of a frame, or is to; NULL: nobody. */
void core_set_runs(struct processor *here, uint16_t frame, struct dispatcher_thread *thread);

/* One that is not in use, and is now: there is one. And it is in use no more. */
uint16_t core_new_frame(struct processor *here);
void core_give_frame(struct processor *here, uint16_t frame);

/* What the processor has RUNNING is that of the frame. */
void core_move_to(struct processor *processor, uint16_t frame);

/* In a tree: the turn and all schedulers above it give the processor up, in the frame in which they are RUNNING. */
void core_give_up_all(struct processor *here, struct dispatcher_thread *turn, uint16_t frame);

/* Whose turn it is in a frame; NULL: nobody's. */
void core_set_turn(struct processor *here, uint16_t frame, struct dispatcher_thread *turn);

/* What is RUNNING in the frame is so no more, by an event: if that is a processor's, it finds that out when it comes
 * here next. */
void core_end_turn(struct processor *here, uint16_t frame);

/* The same of all that is RUNNING under the scheduler on other processors. */
void core_end_turns_under(struct processor *here, const struct scheduler *scheduler);

/* Frames are given out to processors as they come, as long as no policy has nodes. */
void core_give_out_frames(struct processor *here);

/* Those that run and that nothing interrupts, although threads wait. */
void core_interrupt_others(struct processor *here);

#endif
