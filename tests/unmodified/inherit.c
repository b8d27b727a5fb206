/* Mutexes with PTHREAD_PRIO_INHERIT: exclusion, a wait with an end, errors, and the end of an owner. */
#include <errno.h>
#include <sched.h>
#include <time.h>

#include "check.h"

enum { THREADS = 6, TURNS = 500 };

static pthread_mutex_t plain, robust;
static pthread_t next;
static long shared;

static void make(pthread_mutex_t *mutex, int type, int robustness) {
    pthread_mutexattr_t attributes;
    CHECK(pthread_mutexattr_init(&attributes) == 0);
    CHECK(pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT) == 0);
    CHECK(pthread_mutexattr_settype(&attributes, type) == 0);
    CHECK(pthread_mutexattr_setrobust(&attributes, robustness) == 0);
    CHECK(pthread_mutex_init(mutex, &attributes) == 0);
}

static void *count(void *unused) {
    for (int i = 0; i < TURNS; i++) {
        CHECK(pthread_mutex_lock(&plain) == 0);
        long before = shared;
        if (i % 7 == 0)
            sched_yield();
        CHECK(shared == before);
        shared = before + 1;
        CHECK(pthread_mutex_unlock(&plain) == 0);
    }
    return unused;
}

static void *wait_in_vain(void *unused) {
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_nsec += 2000000;
    if (end.tv_nsec >= 1000000000) {
        end.tv_nsec -= 1000000000;
        end.tv_sec++;
    }
    CHECK(pthread_mutex_trylock(&plain) == EBUSY);
    CHECK(pthread_mutex_timedlock(&plain, &end) == ETIMEDOUT);
    return unused;
}

static void *end_with_it(void *unused) {
    CHECK(pthread_mutex_lock(&robust) == 0);
    return unused;
}

static void *take_over(void *unused) {
    CHECK(pthread_mutex_lock(&robust) == EOWNERDEAD && pthread_mutex_consistent(&robust) == 0);
    CHECK(pthread_mutex_unlock(&robust) == 0);
    return unused;
}

static void *hold_and_end(void *unused) {
    CHECK(pthread_mutex_lock(&robust) == 0);
    CHECK(pthread_create(&next, NULL, take_over, NULL) == 0);
    for (int i = 0; i < 10; i++)
        sched_yield(); /* mostly, it waits by then */
    return unused;
}

int main(void) {
    pthread_t thread;
    make(&plain, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_STALLED);
    make(&robust, PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST);
    in_threads(THREADS, count);
    CHECK(shared == THREADS * TURNS);
    CHECK(pthread_mutex_unlock(&plain) == EPERM && pthread_mutex_lock(&plain) == 0);
    CHECK(pthread_mutex_lock(&plain) == EDEADLK);
    in_threads(2, wait_in_vain);
    CHECK(pthread_mutex_unlock(&plain) == 0);
    in_threads(1, end_with_it);
    in_threads(1, take_over);
    CHECK(pthread_create(&thread, NULL, hold_and_end, NULL) == 0 && pthread_join(thread, NULL) == 0);
    CHECK(pthread_join(next, NULL) == 0);
}
