/*
 * First come, first served, by hand: what a thread library has when it knows nothing of its application. In the place
 * of a generated file.
 */
#include "rabbit_policy.h"

#ifdef CATAPULTS_DEFINE_INSTANCE
struct catapults_thread *generic_first, *generic_last;
#else
extern struct catapults_thread *generic_first, *generic_last;
#endif

CATAPULTS_INLINE void generic_start(void) { generic_first = NULL; }

CATAPULTS_INLINE void generic_ready(struct catapults_thread *t) {
    t->next = NULL;
    if (generic_first)
        generic_last->next = t;
    else
        generic_first = t;
    generic_last = t;
}

CATAPULTS_INLINE struct catapults_thread *generic_schedule(void) {
    struct catapults_thread *t = generic_first;
    generic_first = t->next;
    return t;
}

#define GENERIC_NOTHING(t) (void)0
#define CATAPULTS_THREAD struct catapults_thread
#define CATAPULTS_START generic_start
#define CATAPULTS_ADOPT GENERIC_NOTHING
#define CATAPULTS_HANDLER_newthread generic_ready
#define CATAPULTS_NEVER_STOPS_newthread
#define CATAPULTS_HANDLER_schedule generic_schedule
#define CATAPULTS_NEVER_STOPS_schedule
#define CATAPULTS_HANDLER_switch_out generic_ready
#define CATAPULTS_NEVER_STOPS_switch_out
#define CATAPULTS_HANDLER_exit GENERIC_NOTHING
#define CATAPULTS_NEVER_STOPS_exit
