/*
 * State Threads. It has no yield: who yields wakes the thread that has waited longest at a condition, and waits there
 * itself. Mutexes are handed to who waits first.
 */
#include <st.h>
#include <stdbool.h>
#include <stdlib.h>

#define PEER_NAME "State Threads"

typedef st_thread_t peer_thread;
typedef st_mutex_t peer_mutex;
typedef st_cond_t peer_cond;

static peer_cond yielding;
static long waiting_to_go_on;
static long waiting_for_mutex;
static long alive = 1; /* threads that have not ended; without the first while it joins */

static void peer_start(void) {
    if (st_init() != 0)
        abort();
    yielding = st_cond_new();
}

static void let_one_go_on(void) {
    if (waiting_to_go_on > 0) {
        waiting_to_go_on--;
        st_cond_signal(yielding);
    }
}

/* One is enough that runs: a condition is slow while threads are in its list that have been woken and did not run yet.
 */
static void peer_yield(void) {
    if (waiting_to_go_on + waiting_for_mutex + 1 >= alive) {
        if (waiting_to_go_on == 0)
            return;
        let_one_go_on();
    }
    waiting_to_go_on++;
    st_cond_wait(yielding);
}

static void peer_ends(void) {
    alive--;
    let_one_go_on();
}

static void peer_create(peer_thread *thread, void *(*start)(void *), void *argument);
static void peer_join(peer_thread *thread) {
    peer_ends(); /* for so long */
    st_thread_join(*thread, NULL);
    alive++;
}
static void peer_mutex_init(peer_mutex *mutex) { *mutex = st_mutex_new(); }
static void peer_lock(peer_mutex *mutex) { st_mutex_lock(*mutex); }
static void peer_unlock(peer_mutex *mutex) { st_mutex_unlock(*mutex); }
static void peer_cond_init(peer_cond *cond) { *cond = st_cond_new(); }
/* Its conditions know no mutex, which threads that are not preempted do not need. */
static void peer_wait(peer_cond *cond, peer_mutex *mutex) {
    st_mutex_unlock(*mutex);
    let_one_go_on();
    st_cond_wait(*cond);
    st_mutex_lock(*mutex);
}
static void peer_signal(peer_cond *cond) { st_cond_signal(*cond); }
static void peer_broadcast(peer_cond *cond) { st_cond_broadcast(*cond); }

/* Where threads wait for it, and where they yield. */
static bool locked;

static void contended_lock(peer_mutex *mutex) {
    if (locked && waiting_for_mutex++ + waiting_to_go_on + 1 >= alive)
        let_one_go_on();
    locked = true;
    st_mutex_lock(*mutex);
}

static void contended_unlock(peer_mutex *mutex) {
    if (waiting_for_mutex > 0)
        waiting_for_mutex--; /* that one has it now */
    else
        locked = false;
    st_mutex_unlock(*mutex);
}

#define CONTENDED
#define PEER_ENDS
#include "loops.h"

static void peer_create(peer_thread *thread, void *(*start)(void *), void *argument) {
    *thread = st_thread_create(start, argument, 1, 64 << 10);
    if (!*thread)
        fail("st_thread_create");
    alive++;
}
