/*
 * Catapults: cancelling threads, and what is done when they end. Part of catapults.h.
 *
 * Cancellation is deferred, as in POSIX threads; there is no other kind. A cancelled thread ends at its next
 * cancellation point, with the result CATAPULTS_CANCELED. Cancellation points are catapults_testcancel, catapults_join,
 * catapults_sleep, catapults_next_period, waiting on a condition or a semaphore, catapults_select, waiting for a
 * signal, sending to a port and receiving from it, and all calls of catapults/io.h but catapults_close, even if they
 * would not have to wait. Waiting for a mutex, a read-write lock, a barrier or a reply is none, nor is
 * catapults_tryjoin.
 *
 * A cancelled call has done nothing, except that a wait on a condition locks the mutex again first. If part of the data
 * has gone, the call says so, and the next cancellation point ends the thread.
 *
 * A thread that ends by catapults_exit or by cancellation runs its cleanup handlers, the last pushed first. In a
 * program with C++ its stack is unwound meanwhile, as pthreads does it: destructors run, and a `catch (...)` on the way
 * must throw on. The first thread is no exception: its main is unwound. Then the destructors of its keys run, which
 * also happens if the thread returns from its function.
 */
#ifndef CATAPULTS_CANCEL_H
#define CATAPULTS_CANCEL_H

#include "catapults/threads.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CATAPULTS_CANCELED ((void *)-1)

enum { CATAPULTS_CANCEL_ENABLE, CATAPULTS_CANCEL_DISABLE };

int catapults_cancel(catapults_t thread); /* ESRCH: it has ended */
void catapults_testcancel(void);

/* `before` may be NULL. EINVAL: no such state. */
int catapults_setcancelstate(int state, int *before);

/* ---- Cleanup handlers -------------------------------------------------------------------------------------------- */

/*
 * A pair of statements in one block, as in POSIX. The handler is called if the thread ends in between, or at the pop if
 * its argument is not 0. In C++ it is also called if an exception leaves the block.
 *
 *     catapults_cleanup_push(free, buffer);
 *     catapults_read(descriptor, buffer, size);
 *     catapults_cleanup_pop(1);
 */
#ifdef __cplusplus
} /* extern "C" */

class catapults_cleanup_scope {
    void (*function)(void *);
    void *argument;

  public:
    int execute = 1;
    catapults_cleanup_scope(void (*handler)(void *), void *its_argument) : function(handler), argument(its_argument) {}
    catapults_cleanup_scope(const catapults_cleanup_scope &) = delete;
    ~catapults_cleanup_scope() noexcept(false) {
        if (execute)
            function(argument);
    }
};

#define catapults_cleanup_push(function, argument)                                                                     \
    do {                                                                                                               \
    catapults_cleanup_scope catapults_cleanup_here(function, argument)
#define catapults_cleanup_pop(execution)                                                                               \
    catapults_cleanup_here.execute = (execution);                                                                      \
    }                                                                                                                  \
    while (0)

extern "C" {
#else
struct catapults_cleanup {
    void (*function)(void *);
    void *argument;
    struct catapults_cleanup *pushed_before;
};

void catapults_cleanup_begin(struct catapults_cleanup *cleanup);
void catapults_cleanup_end(struct catapults_cleanup *cleanup, int execute);

#define catapults_cleanup_push(function, argument)                                                                     \
    do {                                                                                                               \
        struct catapults_cleanup catapults_cleanup_here = {function, argument, 0};                                     \
    catapults_cleanup_begin(&catapults_cleanup_here)
#define catapults_cleanup_pop(execution)                                                                               \
    catapults_cleanup_end(&catapults_cleanup_here, (execution));                                                       \
    }                                                                                                                  \
    while (0)
#endif

/* ---- Keys: what each thread has under one name ------------------------------------------------------------------- */

typedef uint32_t catapults_key_t;
enum { CATAPULTS_KEYS_MAX = 1024, CATAPULTS_DESTRUCTOR_ITERATIONS = 4 };

/* `destructor`, unless NULL, is called at the end of a thread with its value, if that is not NULL; up to
 * CATAPULTS_DESTRUCTOR_ITERATIONS times, while destructors set values. EAGAIN: there are CATAPULTS_KEYS_MAX. */
int catapults_key_create(catapults_key_t *key, void (*destructor)(void *));
int catapults_key_delete(catapults_key_t key);                     /* EINVAL. No destructor is called, then or later */
void *catapults_getspecific(catapults_key_t key);                  /* NULL: not set, or no such key */
int catapults_setspecific(catapults_key_t key, const void *value); /* EINVAL, ENOMEM */

#ifdef __cplusplus
}
#endif
#endif
