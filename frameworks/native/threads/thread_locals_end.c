/*
 * The ends of thread_local objects of C++, in place of the C++ library's, which ends them with the kernel thread. If
 * they are each thread's own, they end with the thread. Only programs that have such objects are linked with this file.
 */
#include <stdlib.h>

#include "catapults.h"
#include "process/runtime.h"
#include "threads/handle.h"

int __cxa_thread_atexit(void (*function)(void *), void *object, void *library);
int __cxa_thread_atexit_impl(void (*function)(void *), void *object, void *library); /* libc's */

struct ending {
    void (*function)(void *);
    void *object;
    struct ending *before;
};

static catapults_key_t endings; /* of each thread, the last first */
static catapults_once_t made;
static bool there;

/* An end may make other objects, which come first. */
static void end_all(void *last) {
    for (struct ending *one = last; one; one = catapults_getspecific(endings)) {
        struct ending ending = *one;
        free(one);
        if (catapults_setspecific(endings, ending.before) != 0)
            abort(); /* it takes no memory: the thread has set one */
        ending.function(ending.object);
    }
}

/* For the first thread, when `main` returns or calls exit, unless the thread has ended before. */
static void end_of_first(void *self) {
    if (catapults_self() == self)
        end_all(catapults_getspecific(endings));
}

static void make(void) { there = catapults_key_create(&endings, end_all) == 0; }

int __cxa_thread_atexit(void (*function)(void *), void *object, void *library) {
    if (!here()->process.runs_threads || !runtime.thread_locals_size)
        return __cxa_thread_atexit_impl(function, object, library);
    if (catapults_once(&made, make) != 0 || !there)
        return -1;
    struct ending *before = catapults_getspecific(endings), *one = malloc(sizeof *one);
    if (!one)
        return -1;
    *one = (struct ending){function, object, before};
    if (catapults_setspecific(endings, one) != 0) {
        free(one);
        return -1;
    }
    static bool first_told;
    if (dispatcher_self() == dispatcher_first_thread() && !first_told) {
        first_told = true;
        return __cxa_thread_atexit_impl(end_of_first, handle_self(), library);
    }
    return 0;
}
