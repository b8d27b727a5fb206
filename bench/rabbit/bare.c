/*
 * No scheduler: threads go round in a ring that was made once. What is left of a yield is the calls and the switch.
 */
#include "rabbit_policy.h"

#ifdef CATAPULTS_DEFINE_INSTANCE
struct catapults_thread *bare_newest;
#else
extern struct catapults_thread *bare_newest;
#endif

CATAPULTS_INLINE void bare_newthread(struct catapults_thread *t) {
    if (bare_newest) {
        t->next = bare_newest->next;
        bare_newest->next = t;
    } else {
        t->next = t;
    }
    bare_newest = t;
}

#define BARE_NOTHING(t) (void)(t)
#define CATAPULTS_THREAD struct catapults_thread
#define CATAPULTS_START() (void)(bare_newest = NULL)
#define CATAPULTS_ADOPT BARE_NOTHING
#define CATAPULTS_HANDLER_newthread bare_newthread
#define CATAPULTS_NEVER_STOPS_newthread
/* The program's own stack, at first, has no place in the ring: it is nobody's. */
#define CATAPULTS_HANDLER_schedule() (bare_newest = bare_newest->next)
#define CATAPULTS_NEVER_STOPS_schedule
#define CATAPULTS_HANDLER_switch_out BARE_NOTHING
#define CATAPULTS_NEVER_STOPS_switch_out
#define CATAPULTS_HANDLER_exit BARE_NOTHING
#define CATAPULTS_NEVER_STOPS_exit
