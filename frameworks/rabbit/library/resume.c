#include "library.h"

void thread_resume(struct thread *thread) {
    uint8_t flags = thread->flags;
    thread->flags = flags & THREAD_WAITS;
    if (flags != THREAD_SUSPENDED)
        return; /* it was not, or it waits */
    thread_runnable++;
#ifdef CATAPULTS_NEVER_STOPS_resume_thread
    CATAPULTS_HANDLER_resume_thread(POLICY(thread));
#else
    THREAD_MUST(CATAPULTS_HANDLER_resume_thread(POLICY(thread)));
#endif
#ifdef CATAPULTS_PREEMPTS_resume_thread
    thread_give_way();
#endif
}
