/* An application that uses all of the library, so that all of it is linked: for tools/image. It does not run. */
#include "thread.h"

#define ADDRESS(function) ((void (*)(void))(function))

void (*const everything[])(void) = {
    ADDRESS(thread_init),     ADDRESS(thread_seed),   ADDRESS(thread_create),  ADDRESS(thread_run),
    ADDRESS(thread_self),     ADDRESS(thread_yield),  ADDRESS(thread_exit),    ADDRESS(thread_wait),
    ADDRESS(thread_yield_to), ADDRESS(thread_signal), ADDRESS(thread_suspend), ADDRESS(thread_resume),
};

void main(void) {}
