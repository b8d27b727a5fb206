#include "library.h"

void thread_yield(void) {
#ifdef CATAPULTS_NEVER_STOPS_switch_out
    CATAPULTS_HANDLER_switch_out(thread_running);
#else
    THREAD_MUST(CATAPULTS_HANDLER_switch_out(thread_running));
#endif
    thread_decide();
}
