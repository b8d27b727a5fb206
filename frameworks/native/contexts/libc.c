#include "contexts/libc.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

#include "contexts/system.h"
#include "contexts/tools.h"

/* A kernel thread by clone(2) alone would have no thread control block of libc's: no errno, no keys, no exceptions. */
int libc_make_thread(void *(*start)(void *), void *argument, size_t room) {
    pthread_attr_t attributes;
    pthread_t thread;
    int error = pthread_attr_init(&attributes);
    if (error)
        return error;
    error = pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    if (!error && room)
        error = pthread_attr_setstacksize(&attributes, room + PTHREAD_STACK_MIN);
    uint64_t mask = signal_mask(SIGNALS_ALL); /* which it inherits */
    if (!error)
        error = pthread_create(&thread, &attributes, start, argument);
    signal_mask(mask);
    pthread_attr_destroy(&attributes); /* cannot fail: they were set up */
    return error;
}

TOOLS_UNSEEN __attribute__((noipa)) int *libc_error_number(void) { return __errno_location(); }

/* Of the C++ library, in programs that are linked with it. */
__attribute__((weak)) void *__cxa_get_globals(void);

void *libc_exceptions(void) { return __cxa_get_globals ? __cxa_get_globals() : NULL; }

const char *libc_environment(const char *name) { return secure_getenv(name); }
