#include "library.h"

void thread_wait(void) {
    ((struct thread *)thread_running)->flags = THREAD_WAITS;
#ifdef CATAPULTS_NEVER_STOPS_block_wait
    CATAPULTS_HANDLER_block_wait(thread_running);
#else
    THREAD_MUST(CATAPULTS_HANDLER_block_wait(thread_running));
#endif
    thread_leave();
}
