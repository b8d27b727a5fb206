#include "library.h"

void thread_exit(void) {
#ifdef CATAPULTS_NEVER_STOPS_exit
    CATAPULTS_HANDLER_exit(thread_running);
#else
    THREAD_MUST(CATAPULTS_HANDLER_exit(thread_running));
#endif
    thread_leave();
}
