/*
 * GNU Pth.
 */
#include <pth.h>

#define PEER_NAME "GNU Pth"
#define PEER_PRIORITIES
#define PEER_AGES

typedef pth_t peer_thread;
typedef pth_mutex_t peer_mutex;
typedef pth_cond_t peer_cond;

static pth_attr_t attributes[PTH_PRIO_MAX - PTH_PRIO_MIN + 1];

static void peer_start(void) {
    pth_init();
    for (int priority = PTH_PRIO_MIN; priority <= PTH_PRIO_MAX; priority++) {
        pth_attr_t attribute = attributes[priority - PTH_PRIO_MIN] = pth_attr_new();
        pth_attr_set(attribute, PTH_ATTR_PRIO, priority);
        pth_attr_set(attribute, PTH_ATTR_STACK_SIZE, 64u << 10);
    }
}

static void peer_create_at(peer_thread *thread, void *(*start)(void *), void *argument, int level);
static void peer_create(peer_thread *thread, void *(*start)(void *), void *argument) {
    peer_create_at(thread, start, argument, 3); /* priority 0, the standard */
}
static void peer_join(peer_thread *thread) { pth_join(*thread, NULL); }
static void peer_yield(void) { pth_yield(NULL); }
static void peer_mutex_init(peer_mutex *mutex) { pth_mutex_init(mutex); }
static void peer_lock(peer_mutex *mutex) { pth_mutex_acquire(mutex, FALSE, NULL); }
static void peer_unlock(peer_mutex *mutex) { pth_mutex_release(mutex); }
static void peer_cond_init(peer_cond *cond) { pth_cond_init(cond); }
static void peer_wait(peer_cond *cond, peer_mutex *mutex) { pth_cond_await(cond, mutex, NULL); }
static void peer_signal(peer_cond *cond) { pth_cond_notify(cond, FALSE); }
static void peer_broadcast(peer_cond *cond) { pth_cond_notify(cond, TRUE); }

#include "loops.h"

/* Levels 0 to 7 are priorities -3 to 4. */
static void peer_create_at(peer_thread *thread, void *(*start)(void *), void *argument, int level) {
    *thread = pth_spawn(attributes[level + 2], start, argument);
    if (!*thread)
        fail("pth_spawn");
}
