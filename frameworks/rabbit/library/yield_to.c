#include "library.h"

bool thread_yield_to(struct thread *thread) {
    if (POLICY(thread) == thread_running || !CATAPULTS_HANDLER_can_switch_to(POLICY(thread)))
        return false;
#ifdef CATAPULTS_HANDLER_set_next_thread
#ifdef CATAPULTS_NEVER_STOPS_set_next_thread
    CATAPULTS_HANDLER_set_next_thread(POLICY(thread));
#else
    THREAD_MUST(CATAPULTS_HANDLER_set_next_thread(POLICY(thread)));
#endif
#endif
#ifdef CATAPULTS_PREEMPTS_set_next_thread
    if (!CATAPULTS_IS_RUNNING(thread_running)) {
        thread_decide();
        return true;
    }
#endif
    thread_yield();
    return true;
}
