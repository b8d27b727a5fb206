/*
 * Frames: what is RUNNING on each processor is put aside while another one decides. All is done under the lock.
 */
#ifndef CATAPULTS_FRAMES_BPF_H
#define CATAPULTS_FRAMES_BPF_H

#include "records.bpf.h"

/* The frame that the policy sees. What is in its memory is out of date. */
static struct catapults_frame CATAPULTS_MEMORY *catapults_seen;

typedef uint64_t __attribute__((may_alias)) catapults_word;

static inline __attribute__((always_inline)) void catapults_copy(void CATAPULTS_MEMORY *to,
                                                                 const void CATAPULTS_MEMORY *from, uint64_t size) {
    catapults_word CATAPULTS_MEMORY *into = to;
    const catapults_word CATAPULTS_MEMORY *words = from;
    if (size == sizeof(*words)) {
        *into = *words;
        return;
    }
    for (uint64_t i = CATAPULTS_COUNTED(0); CATAPULTS_LOOP(i < size / sizeof(*words)); i++)
        into[i] = words[i];
}

/* What the policy sees goes into a frame, and the other way round. */
CATAPULTS_CALLED void catapults_frame_out(struct catapults_frame CATAPULTS_MEMORY *frame) {
    CATAPULTS_INSTANCE CATAPULTS_MEMORY *self = catapults_instance;
#define OUT(member) catapults_copy(&frame->member, &self->member, sizeof(frame->member));
    CATAPULTS_RUNNING(OUT)
#undef OUT
}

CATAPULTS_CALLED void catapults_frame_in(const struct catapults_frame CATAPULTS_MEMORY *frame) {
    CATAPULTS_INSTANCE CATAPULTS_MEMORY *self = catapults_instance;
#define IN(member) catapults_copy(&self->member, &frame->member, sizeof(frame->member));
    CATAPULTS_RUNNING(IN)
#undef IN
}

/* The policy sees this frame from now on. */
CATAPULTS_CALLED void catapults_see(struct catapults_frame CATAPULTS_MEMORY *frame) {
    if (frame == catapults_seen)
        return;
    catapults_frame_out(catapults_seen);
    catapults_frame_in(frame);
    catapults_seen = frame;
}

/* The thread that is RUNNING in one frame is RUNNING in another, where nothing was, from now on. */
CATAPULTS_CALLED void catapults_move(uint32_t number, struct catapults_frame CATAPULTS_MEMORY *to) {
    struct catapults_record CATAPULTS_MEMORY *record = catapults_record(number);
    struct catapults_frame CATAPULTS_MEMORY *from = record->frame;
    catapults_see(from);
    catapults_frame_out(to);
    catapults_frame_in(catapults_frames + CATAPULTS_PROCESSORS);
    to->runs = number;
    from->runs = 0;
    record->frame = to;
}

/* Nothing is RUNNING anywhere. Follows `start`. */
CATAPULTS_CALLED void catapults_frames_init(void) {
    for (uint32_t i = CATAPULTS_COUNTED(0); CATAPULTS_LOOP(i <= CATAPULTS_PROCESSORS); i++) {
        struct catapults_frame CATAPULTS_MEMORY *frame = catapults_frames + i;
        catapults_frame_out(frame);
        frame->runs = 0;
        frame->processor = (int32_t)i;
    }
    catapults_seen = catapults_frames;
}

#endif
