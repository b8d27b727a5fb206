/*
 * The one door to the policy: a lock, an event in the frame where it belongs, and what is to be done about it when the
 * lock is free again. Under the lock nothing of the kernel can be called.
 */
#ifndef CATAPULTS_RAISE_BPF_H
#define CATAPULTS_RAISE_BPF_H

#include "frames.bpf.h"

/* What the loader reads, at any time. loader/src/scheduler.rs has the same. */
struct catapults_told {
    uint64_t kind; /* of the kernel's enum scx_exit_kind; 0: the policy schedules */
    int64_t code;
    uint64_t stop;   /* of the handler that ended it: from 1, in the order of CATAPULTS_STOPS; CATAPULTS_SPENT */
    uint64_t thread; /* the task of that event */
    uint64_t events, dispatches, refused;
    uint64_t lost;     /* threads that the policy has dispatched, and that the kernel did not find */
    uint64_t unlocked; /* times that the lock was not to be had */
    uint64_t refusal;  /* of the last thread that was refused: its stop */
    int64_t values[4]; /* of its reason */
    char reason[64], message[192];
};
struct catapults_told catapults_told CATAPULTS_SECTION(".bss.told");

/* Under the lock: why the last thread was refused. */
static inline __attribute__((always_inline)) void catapults_note_refusal(uint32_t stop) {
    catapults_told.refusal = stop;
#ifdef CATAPULTS_TOLD
    for (uint32_t i = 0; i < 4; i++)
        catapults_told.values[i] = CATAPULTS_TOLD(catapults_instance)[i];
#endif
    catapults_told.refused++;
}

/* As a stop: a loop has taken too many turns. */
enum { CATAPULTS_SPENT = UINT32_MAX };

/* What is to be done after the lock. */
struct catapults_after {
    uint64_t kicks; /* processors that are to decide anew, as bits */
    uint32_t stop;
    uint32_t thread; /* whose event stopped */
};

enum catapults_event {
    CATAPULTS_NEWTHREAD,
    CATAPULTS_SWITCH_OUT,
    CATAPULTS_BLOCK_SLEEP,
    CATAPULTS_BLOCK_IO,
    CATAPULTS_BLOCK_OTHER,
    CATAPULTS_EVENT_RAISED,
    CATAPULTS_SUSPEND_THREAD,
    CATAPULTS_RESUME_THREAD,
    CATAPULTS_TICK,
    CATAPULTS_EXIT,
    CATAPULTS_CANCEL
};

/* A guard has failed: the policy is asked nothing any more, and the kernel is about to take over. */
static volatile uint32_t catapults_out;
/* The instant that the policy knows; the clocks of two processors may differ. */
static volatile int64_t catapults_instant;
/* When the first timer expires; 0: none is armed. */
static volatile int64_t catapults_first;

CATAPULTS_IN_PLACE uint32_t catapults_handle(uint32_t event, struct catapults_thread CATAPULTS_MEMORY *t) {
    CATAPULTS_INSTANCE CATAPULTS_MEMORY *self = catapults_instance;
    switch (event) {
    case CATAPULTS_NEWTHREAD:
        return CATAPULTS_HANDLER_newthread(self, t);
    case CATAPULTS_SWITCH_OUT:
        return CATAPULTS_HANDLER_switch_out(self, t);
    case CATAPULTS_BLOCK_SLEEP:
        return CATAPULTS_HANDLER_block_sleep(self, t);
    case CATAPULTS_BLOCK_IO:
        return CATAPULTS_HANDLER_block_io(self, t);
    case CATAPULTS_BLOCK_OTHER:
        return CATAPULTS_HANDLER_block_other(self, t);
    case CATAPULTS_EVENT_RAISED:
        return CATAPULTS_HANDLER_event_raised(self, t);
    case CATAPULTS_SUSPEND_THREAD:
        return CATAPULTS_HANDLER_suspend_thread(self, t);
    case CATAPULTS_RESUME_THREAD:
        return CATAPULTS_HANDLER_resume_thread(self, t);
#ifdef CATAPULTS_HANDLER_tick
    case CATAPULTS_TICK:
        return CATAPULTS_HANDLER_tick(self, t);
#endif
    case CATAPULTS_EXIT:
        return CATAPULTS_HANDLER_exit(self, t);
    case CATAPULTS_CANCEL:
        return CATAPULTS_HANDLER_cancel(self, t);
    }
    return 0;
}

/* The lock, with the policy's clock set; NULL: it is not to be had, or the policy is out. */
static inline __attribute__((always_inline)) struct bpf_res_spin_lock *catapults_enter(unsigned long *flags) {
    uint32_t first = 0;
    CATAPULTS_HAS_ARENA;
    struct catapults_locked *locked = bpf_map_lookup_elem(&catapults_lock, &first);
    int64_t now = (int64_t)bpf_ktime_get_ns();
    if (!locked || catapults_out || !catapults_instance)
        return NULL;
    if (bpf_res_spin_lock_irqsave(&locked->lock, flags)) {
        __sync_fetch_and_add(&catapults_told.unlocked, 1); /* others may count just then */
        return NULL;
    }
    if (now > catapults_instant)
        catapults_instant = now;
#ifdef CATAPULTS_NOW
    CATAPULTS_NOW(catapults_instance) = catapults_instant;
#endif
    return &locked->lock;
}

/* What an event that was raised in the frame that the policy sees has changed there. */
CATAPULTS_CALLED void catapults_settle(struct catapults_after *after) {
    struct catapults_frame CATAPULTS_MEMORY *frame = catapults_seen;
    uint32_t runs = frame->runs;
    if (!runs)
        return;
    if (CATAPULTS_IS_RUNNING(catapults_thread(runs)))
        return;
    struct catapults_record CATAPULTS_MEMORY *record = catapults_record(runs);
    frame->runs = 0;
    record->frame = NULL;
    after->kicks |= 1ULL << (frame->processor & (CATAPULTS_PROCESSORS - 1));
    if (record->on >= 0)
        after->kicks |= 1ULL << (record->on & (CATAPULTS_PROCESSORS - 1));
}

/* Raises an event of a thread: in the frame in which it is RUNNING, or else in that of `processor`. */
CATAPULTS_IN_PLACE void catapults_raise(uint32_t event, uint32_t number, int32_t processor,
                                        struct catapults_after *after) {
    struct catapults_frame CATAPULTS_MEMORY *frame = catapults_record(number)->frame;
    catapults_see(frame ? frame : catapults_frame_of(processor));
    uint32_t stop = catapults_handle(event, catapults_thread(number));
    catapults_told.events++;
    if (stop) {
        after->stop = stop;
        after->thread = catapults_record(number)->pid;
    }
    catapults_settle(after);
}

static inline __attribute__((always_inline)) void catapults_leave(struct bpf_res_spin_lock *lock, unsigned long *flags,
                                                                  struct catapults_after *after) {
#ifdef CATAPULTS_TIMERS
    struct catapults_timer CATAPULTS_MEMORY *first = CATAPULTS_TIMERS(catapults_instance).first;
    catapults_first = first ? first->instant : 0;
#endif
    if (catapults_spent)
        after->stop = CATAPULTS_SPENT;
    /* The first stop is the one that is told: what follows it may be its doing. */
    if (after->stop && !catapults_out) {
        catapults_out = 1;
        catapults_told.stop = after->stop;
        catapults_told.thread = after->thread;
    }
    bpf_res_spin_unlock_irqrestore(lock, flags);
}

#endif
