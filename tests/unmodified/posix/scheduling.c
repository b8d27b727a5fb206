/* Policies and priorities of threads, as far as they can be asked for and set. */
#include <sys/resource.h>
#include <unistd.h>

#include "clause.h"

static atomic_int begun;

static void *has(void *wanted) {
    const int *expected = wanted;
    struct sched_param found;
    int policy;
    CHECK(pthread_getschedparam(pthread_self(), &policy, &found) == 0);
    CHECK(policy == expected[0] && found.sched_priority == expected[1]);
    return NULL;
}

static void *stay(void *unused) {
    begun = 1;
    await(&begun, 2);
    return unused;
}

static void parameters(void) {
    struct sched_param found, wanted = {.sched_priority = 5}, none = {0};
    int policy;
    clause("pthread_setschedparam", "what was set is found; EINVAL for no policy, or none of its priorities");
    CHECK(pthread_setschedparam(pthread_self(), SCHED_OTHER, &wanted) == EINVAL);
    CHECK(pthread_setschedparam(pthread_self(), SCHED_FIFO, &none) == EINVAL);
    CHECK(pthread_setschedparam(pthread_self(), 1000, &none) == EINVAL);
    begun = 0;
    pthread_t one = thread(stay, NULL);
    await(&begun, 1);
    int error = pthread_setschedparam(one, SCHED_FIFO, &wanted);
    CHECK(error == 0 || error == EPERM); /* not everybody may */
    if (error == 0) {
        CHECK(pthread_getschedparam(one, &policy, &found) == 0 && policy == SCHED_FIFO && found.sched_priority == 5);
        CHECK(pthread_setschedprio(one, 7) == 0 && pthread_setschedprio(one, 1000) == EINVAL);
        CHECK(pthread_getschedparam(one, &policy, &found) == 0 && policy == SCHED_FIFO && found.sched_priority == 7);
        CHECK(pthread_setschedparam(one, SCHED_OTHER, &none) == 0);
        clause("pthread_attr_setinheritsched", "EXPLICIT: the attributes hold, else the maker's");
        pthread_attr_t how;
        pthread_t other;
        CHECK(pthread_attr_init(&how) == 0 && pthread_attr_setschedpolicy(&how, SCHED_RR) == 0);
        CHECK(pthread_attr_setschedparam(&how, &wanted) == 0);
        CHECK(pthread_attr_setinheritsched(&how, PTHREAD_EXPLICIT_SCHED) == 0);
        CHECK(pthread_create(&other, &how, has, (int[]){SCHED_RR, 5}) == 0 && result_of(other) == NULL);
        CHECK(pthread_attr_setinheritsched(&how, PTHREAD_INHERIT_SCHED) == 0);
        CHECK(pthread_create(&other, &how, has, (int[]){SCHED_OTHER, 0}) == 0 && result_of(other) == NULL);
        CHECK(pthread_attr_destroy(&how) == 0);
    }
    begun = 2;
    CHECK(result_of(one) == NULL);
    clause("sched_get_priority_max", "is above the least by at least 31 for SCHED_FIFO and SCHED_RR");
    CHECK(sched_get_priority_max(SCHED_FIFO) - sched_get_priority_min(SCHED_FIFO) >= 31);
    CHECK(sched_get_priority_max(SCHED_RR) - sched_get_priority_min(SCHED_RR) >= 31);
    CHECK(sched_get_priority_max(1000) == -1 && errno == EINVAL);
}

int main(void) { parameters(); }
