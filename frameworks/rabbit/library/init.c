#define CATAPULTS_DEFINE_INSTANCE
#include "library.h"

struct catapults_thread *thread_running;
uint8_t thread_runnable;

void thread_init(void) {
    thread_runnable = 0;
    CATAPULTS_START();
#ifdef CATAPULTS_HANDLER_init
#ifdef CATAPULTS_NEVER_STOPS_init
    CATAPULTS_HANDLER_init();
#else
    THREAD_MUST(CATAPULTS_HANDLER_init());
#endif
#endif
}
