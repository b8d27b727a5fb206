/*
 * What is RUNNING on each processor, and who runs on that turn.
 */
#ifndef CATAPULTS_CORE_FRAMES_H
#define CATAPULTS_CORE_FRAMES_H

#include "core/state.h"

/* The processor on which the turn of the frame runs; NULL: none. */
struct processor *core_runner_of(struct processor *here, uint16_t frame);

/* The frame in which the thread or record is RUNNING. NOBODY: it is not RUNNING. */
uint16_t core_frame_of(struct processor *here, const struct dispatcher_thread *member);

/* Around an event of a thread that may be RUNNING on another processor: the event is raised in that processor's frame,
 * and the turn there ends if the thread is no longer RUNNING. NOBODY: it is not RUNNING on another processor, and the
 * second call is not needed. */
uint16_t core_see(struct processor *here, const struct dispatcher_thread *thread);
void core_seen(struct processor *here, const struct dispatcher_thread *thread, uint16_t frame);

/* The frame will be in use. */
static inline void core_in_use(struct processor *here, uint16_t frame) {
    struct core *core = here->core;
    if (frame >= core->frames_end)
        core->frames_end = frame + 1;
}

/* Gives a new processor a frame. */
void core_take_frame(struct processor *here, struct processor *processor);

/* Sets who runs, or is to run, on the turn of a frame. NULL: nobody. */
void core_set_runs(struct processor *here, uint16_t frame, struct dispatcher_thread *thread);

/* Takes a frame that is not in use, of which there is one; and gives one back. */
uint16_t core_new_frame(struct processor *here);
void core_give_frame(struct processor *here, uint16_t frame);

/* The processor's frame is this one from now on. */
void core_move_to(struct processor *processor, uint16_t frame);

/* The turn, and all schedulers above it, give the processor up, in the frame in which they are RUNNING. */
void core_give_up_all(struct processor *here, struct dispatcher_thread *turn, uint16_t frame);

/* Sets whose turn it is in a frame. NULL: nobody's. */
void core_set_turn(struct processor *here, uint16_t frame, struct dispatcher_thread *turn);

/* An event has ended the turn of a frame. If a processor runs it, it is interrupted, and decides anew. */
void core_end_turn(struct processor *here, uint16_t frame);

/* Ends all turns under the scheduler on other processors. */
void core_end_turns_under(struct processor *here, const struct scheduler *scheduler);

/* Gives every processor a frame. Not for policies with nodes, where each node has its own. */
void core_give_out_frames(struct processor *here);

/* Interrupts the processors that run threads, and whose timers are not set. */
void core_interrupt_others(struct processor *here);

#endif
