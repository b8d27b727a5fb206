#include "library.h"

void thread_signal(struct thread *thread) {
    if (!(thread->flags & THREAD_WAITS))
        return;
    thread->flags &= ~THREAD_WAITS;
    thread_runnable++;
#ifdef CATAPULTS_NEVER_STOPS_event_raised
    CATAPULTS_HANDLER_event_raised(POLICY(thread));
#else
    THREAD_MUST(CATAPULTS_HANDLER_event_raised(POLICY(thread)));
#endif
    if (thread->flags & THREAD_SUSPENDED)
        thread_suspend(thread);
}
