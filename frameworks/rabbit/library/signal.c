#include "library.h"

void thread_signal(struct thread *thread) {
    uint8_t flags = thread->flags;
    if (!(flags & THREAD_WAITS))
        return;
    thread->flags = 0;
    thread_runnable++;
#ifdef CATAPULTS_NEVER_STOPS_event_raised
    CATAPULTS_HANDLER_event_raised(POLICY(thread));
#else
    THREAD_MUST(CATAPULTS_HANDLER_event_raised(POLICY(thread)));
#endif
    if (flags & THREAD_SUSPENDED) {
        thread->flags = THREAD_SUSPENDED;
        thread_runnable--;
#ifdef CATAPULTS_NEVER_STOPS_suspend_thread
        CATAPULTS_HANDLER_suspend_thread(POLICY(thread));
#else
        THREAD_MUST(CATAPULTS_HANDLER_suspend_thread(POLICY(thread)));
#endif
    }
#if defined CATAPULTS_PREEMPTS_event_raised || defined CATAPULTS_PREEMPTS_suspend_thread
    thread_give_way();
#endif
}
