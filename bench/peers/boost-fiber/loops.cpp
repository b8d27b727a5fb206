/*
 * Boost.Fiber, under its own round-robin algorithm, or where priorities are measured under the one of ALGORITHM.
 */
#include <boost/fiber/all.hpp>

#include <memory>
#include <mutex>

#include ALGORITHM

#define PEER_PRIORITIES

/* Stacks are recycled by malloc, as they are unless one asks for something else. */
typedef boost::fibers::fiber peer_thread;
typedef boost::fibers::mutex peer_mutex;
typedef boost::fibers::condition_variable peer_cond;

static boost::fibers::fixedsize_stack stacks(64 << 10);

static void peer_start() {}
static void peer_create(peer_thread *thread, void *(*start)(void *), void *argument) {
    *thread = peer_thread(std::allocator_arg, stacks, start, argument);
}
static void peer_join(peer_thread *thread) { thread->join(); }
static void peer_yield() { boost::this_fiber::yield(); }
static void peer_mutex_init(peer_mutex *) {}
static void peer_lock(peer_mutex *mutex) { mutex->lock(); }
static void peer_unlock(peer_mutex *mutex) { mutex->unlock(); }
static void peer_cond_init(peer_cond *) {}
static void peer_wait(peer_cond *cond, peer_mutex *mutex) {
    std::unique_lock<peer_mutex> lock(*mutex, std::adopt_lock);
    cond->wait(lock);
    lock.release();
}
static void peer_signal(peer_cond *cond) { cond->notify_one(); }
static void peer_broadcast(peer_cond *cond) { cond->notify_all(); }

static void peer_create_at(peer_thread *thread, void *(*start)(void *), void *argument, int level) {
    static const bool chosen = (boost::fibers::use_scheduling_algorithm<algorithm>(), true);
    (void)chosen;
    peer_create(thread, start, argument);
    thread->properties<priority_property>().set(level);
}

#include "loops.h"
