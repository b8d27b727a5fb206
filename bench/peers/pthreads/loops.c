/*
 * The threads of the C library and the kernel.
 */
#include <pthread.h>
#include <sched.h>

#define PEER_NAME "pthreads, glibc"

typedef pthread_t peer_thread;
typedef pthread_mutex_t peer_mutex;
typedef pthread_cond_t peer_cond;

static pthread_attr_t attributes;

static void peer_start(void) {
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 64 << 10);
}

static void peer_create(peer_thread *thread, void *(*start)(void *), void *argument);
static void peer_join(peer_thread *thread) { pthread_join(*thread, NULL); }
static void peer_yield(void) { sched_yield(); }
static void peer_mutex_init(peer_mutex *mutex) { pthread_mutex_init(mutex, NULL); }
static void peer_lock(peer_mutex *mutex) { pthread_mutex_lock(mutex); }
static void peer_unlock(peer_mutex *mutex) { pthread_mutex_unlock(mutex); }
static void peer_cond_init(peer_cond *cond) { pthread_cond_init(cond, NULL); }
static void peer_wait(peer_cond *cond, peer_mutex *mutex) { pthread_cond_wait(cond, mutex); }
static void peer_signal(peer_cond *cond) { pthread_cond_signal(cond); }
static void peer_broadcast(peer_cond *cond) { pthread_cond_broadcast(cond); }

#include "loops.h"

static void peer_create(peer_thread *thread, void *(*start)(void *), void *argument) {
    if (pthread_create(thread, &attributes, start, argument) != 0)
        fail("pthread_create");
}
