#include "library.h"

struct catapults_thread thread_program;

void thread_run(void) {
    if (thread_runnable == 0)
        return;
    thread_running = &thread_program;
    thread_decide();
}
