#include "library.h"

/* A scheduler that is written by hand need not say who runs, and takes the processor from nobody. */
#ifdef CATAPULTS_IS_RUNNING
void thread_give_way(void) {
    /* Before threads run, and behind their end, the program itself raises events. */
    if (thread_running && thread_running != &thread_program && !CATAPULTS_IS_RUNNING(thread_running))
        thread_decide();
}
#endif
