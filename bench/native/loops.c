/*
 * Ours, in the loops that are run of every thread library: bench/peers/loops.h. The policy is the one compiled in, else
 * that of CATAPULTS_POLICY.
 */
#include "catapults.h"

#define PEER_NAME "Catapults"
#define VERSION "here"
#define PEER_PRIORITIES

typedef catapults_t peer_thread;
typedef catapults_mutex_t peer_mutex;
typedef catapults_cond_t peer_cond;

static void peer_start(void);
static void peer_create(peer_thread *thread, void *(*start)(void *), void *argument);
static void peer_create_at(peer_thread *thread, void *(*start)(void *), void *argument, int level);
static void peer_join(peer_thread *thread) { catapults_join(*thread, NULL); }
static void peer_yield(void) { catapults_yield(); }
static void peer_mutex_init(peer_mutex *mutex) { *mutex = (peer_mutex)CATAPULTS_MUTEX_INITIALIZER; }
static void peer_lock(peer_mutex *mutex) { catapults_mutex_lock(mutex); }
static void peer_unlock(peer_mutex *mutex) { catapults_mutex_unlock(mutex); }
static void peer_cond_init(peer_cond *cond) { *cond = (peer_cond)CATAPULTS_COND_INITIALIZER; }
static void peer_wait(peer_cond *cond, peer_mutex *mutex) { catapults_cond_wait(cond, mutex); }
static void peer_signal(peer_cond *cond) { catapults_cond_signal(cond); }
static void peer_broadcast(peer_cond *cond) { catapults_cond_broadcast(cond); }

#include "loops.h"

/* What fixed_priority.sched imports of each thread. The first thread comes before all levels. */
struct object {
    catapults_int priority;
};
static struct object objects[LEVELS + 1];

static void peer_start(void) {
    if (catapults_init(NULL) != 0)
        exit(EXIT_FAILURE);
    for (int level = 0; level <= LEVELS; level++)
        objects[level].priority = level;
    if (catapults_threadvar_register("priority", struct object, priority) == 0) {
        catapults_set_object(catapults_self(), &objects[LEVELS]);
        catapults_yield(); /* the policy looks at it when a thread becomes ready */
    }
}

static void peer_create(peer_thread *thread, void *(*start)(void *), void *argument) {
    if (catapults_create(thread, NULL, start, argument) != 0)
        fail("catapults_create");
}

static void peer_create_at(peer_thread *thread, void *(*start)(void *), void *argument, int level) {
    struct catapults_attributes attributes = {.object = &objects[level]};
    if (catapults_create(thread, &attributes, start, argument) != 0)
        fail("catapults_create");
}
