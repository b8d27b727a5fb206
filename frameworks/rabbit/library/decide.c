#include "library.h"

void thread_decide(void) {
#ifdef CATAPULTS_NEVER_STOPS_schedule
    thread_switch(CATAPULTS_HANDLER_schedule());
#else
    const struct catapults_stop *stop = NULL;
    struct catapults_thread *next = CATAPULTS_HANDLER_schedule(&stop);
    if (stop)
        thread_policy_failed(stop->line);
    thread_switch(next);
#endif
}
