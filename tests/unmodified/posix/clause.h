/*
 * For programs that ask what POSIX says of an interface, or what NPTL has beyond it. Each says in a line what it has
 * asked: the same without a policy and under each.
 */
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

#include "../check.h"

/* What the standard says, in a few words; from here to the next it is tried. */
static inline void clause(const char *interface, const char *says) {
    printf("%s: %s\n", interface, says);
    fflush(stdout); /* a child of fork would write it again */
}

static inline pthread_t thread(void *(*run)(void *), void *argument) {
    pthread_t made;
    CHECK(pthread_create(&made, NULL, run, argument) == 0);
    return made;
}

static inline void *result_of(pthread_t ending) {
    void *result;
    CHECK(pthread_join(ending, &result) == 0);
    return result;
}

static inline void pause_shortly(void) { nanosleep(&(struct timespec){.tv_nsec = 500000}, NULL); }

static inline void await(const atomic_int *what, int least) {
    while (atomic_load(what) < least)
        pause_shortly();
}

static inline struct timespec from_now(clockid_t clock, long seconds, long nanoseconds) {
    struct timespec at;
    CHECK(clock_gettime(clock, &at) == 0);
    at.tv_sec += seconds + (at.tv_nsec + nanoseconds) / 1000000000;
    at.tv_nsec = (at.tv_nsec + nanoseconds) % 1000000000;
    return at;
}

static inline double seconds_at(clockid_t clock) {
    struct timespec at;
    CHECK(clock_gettime(clock, &at) == 0);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}
