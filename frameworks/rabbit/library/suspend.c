#include "library.h"

void thread_suspend(struct thread *thread) {
    uint8_t flags = thread->flags;
    thread->flags = flags | THREAD_SUSPENDED;
    if (flags)
        return; /* it is suspended, or it waits: thread_signal comes back to it */
#ifdef CATAPULTS_NEVER_STOPS_suspend_thread
    CATAPULTS_HANDLER_suspend_thread(POLICY(thread));
#else
    THREAD_MUST(CATAPULTS_HANDLER_suspend_thread(POLICY(thread)));
#endif
    if (POLICY(thread) == thread_running)
        thread_leave();
    else {
        thread_runnable--;
#ifdef CATAPULTS_PREEMPTS_suspend_thread
        thread_give_way();
#endif
    }
}
