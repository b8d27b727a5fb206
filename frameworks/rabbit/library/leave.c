#include "library.h"

void thread_leave(void) {
    if (--thread_runnable == 0)
        thread_switch(&thread_program);
    else
        thread_decide();
}
