/*
 * First come, first served, by hand: what a thread library decides when it knows nothing of its application.
 */
#include "rabbit_policy.h"

struct fifo {
    struct catapults_thread *first, *last;
};

#ifdef CATAPULTS_DEFINE_INSTANCE
struct fifo fifo;
#else
extern struct fifo fifo;
#endif

/* struct catapults_thread.container */
#define FIFO_READY 1

CATAPULTS_INLINE void fifo_start(void) { fifo.first = NULL; }

CATAPULTS_INLINE void fifo_adopt(struct catapults_thread *t) { t->container = 0; }

CATAPULTS_INLINE void fifo_ready(struct catapults_thread *t) {
    t->container = FIFO_READY;
    t->next = NULL;
    if (fifo.first)
        fifo.last->next = t;
    else
        fifo.first = t;
    fifo.last = t;
}

CATAPULTS_INLINE struct catapults_thread *fifo_schedule(void) {
    struct catapults_thread *t = fifo.first;
    fifo.first = t->next;
    t->container = 0;
    return t;
}

/* Out of the queue, if it is there. */
CATAPULTS_INLINE void fifo_remove(struct catapults_thread *t) {
    struct catapults_thread *before = NULL, *at = fifo.first;
    if (t->container != FIFO_READY)
        return;
    t->container = 0;
    while (at != t) {
        before = at;
        at = at->next;
    }
    if (before)
        before->next = t->next;
    else
        fifo.first = t->next;
    if (fifo.last == t)
        fifo.last = before;
}

CATAPULTS_INLINE void fifo_first(struct catapults_thread *t) {
    fifo_remove(t);
    t->container = FIFO_READY;
    t->next = fifo.first;
    if (!fifo.first)
        fifo.last = t;
    fifo.first = t;
}

#define FIFO_NOTHING(t) (void)(t)
#define CATAPULTS_THREAD struct catapults_thread
#define CATAPULTS_START fifo_start
#define CATAPULTS_ADOPT fifo_adopt
#define CATAPULTS_HANDLER_newthread fifo_ready
#define CATAPULTS_NEVER_STOPS_newthread
#define CATAPULTS_HANDLER_schedule fifo_schedule
#define CATAPULTS_NEVER_STOPS_schedule
#define CATAPULTS_HANDLER_switch_out fifo_ready
#define CATAPULTS_NEVER_STOPS_switch_out
#define CATAPULTS_HANDLER_block_wait FIFO_NOTHING
#define CATAPULTS_NEVER_STOPS_block_wait
#define CATAPULTS_HANDLER_event_raised fifo_ready
#define CATAPULTS_NEVER_STOPS_event_raised
#define CATAPULTS_HANDLER_suspend_thread fifo_remove
#define CATAPULTS_NEVER_STOPS_suspend_thread
#define CATAPULTS_HANDLER_resume_thread fifo_ready
#define CATAPULTS_NEVER_STOPS_resume_thread
#define CATAPULTS_HANDLER_set_next_thread fifo_first
#define CATAPULTS_NEVER_STOPS_set_next_thread
#define CATAPULTS_HANDLER_exit FIFO_NOTHING
#define CATAPULTS_NEVER_STOPS_exit
#define CATAPULTS_HANDLER_can_switch_to(t) ((t)->container == FIFO_READY)
