/* Condition variables: the mutex, ends of waits, and whom a signal reaches. */
#include "clause.h"

static pthread_mutex_t mutex = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static atomic_int waiting, woken;
static int tokens;

/* The caller has the mutex, and only its owner may unlock it. */
static void has_the_mutex(void) { CHECK(pthread_mutex_unlock(&mutex) == 0 && pthread_mutex_lock(&mutex) == 0); }

static void instants(void) {
    clause("pthread_cond_timedwait", "ETIMEDOUT at once for an instant that has passed, with the mutex");
    const clockid_t clocks[] = {CLOCK_REALTIME, CLOCK_MONOTONIC};
    for (int i = 0; i < 2; i++) {
        pthread_condattr_t how;
        pthread_cond_t own;
        clockid_t clock;
        CHECK(pthread_condattr_init(&how) == 0 && pthread_condattr_setclock(&how, clocks[i]) == 0);
        CHECK(pthread_condattr_getclock(&how, &clock) == 0 && clock == clocks[i]);
        CHECK(pthread_cond_init(&own, &how) == 0 && pthread_mutex_lock(&mutex) == 0);
        CHECK(pthread_cond_timedwait(&own, &mutex, &(struct timespec){.tv_sec = 1}) == ETIMEDOUT);
        has_the_mutex();
        const struct timespec soon = from_now(clocks[i], 0, 20000000);
        int result;
        while ((result = pthread_cond_timedwait(&own, &mutex, &soon)) == 0) /* it may end early */
            ;
        CHECK(result == ETIMEDOUT && seconds_at(clocks[i]) >= (double)soon.tv_sec + (double)soon.tv_nsec / 1e9);
        has_the_mutex();
        CHECK(pthread_cond_timedwait(&own, &mutex, &(struct timespec){.tv_nsec = -1}) == EINVAL);
        const clockid_t other = clocks[1 - i];
        CHECK(pthread_cond_clockwait(&own, &mutex, other, &(struct timespec){.tv_sec = 1}) == ETIMEDOUT);
        CHECK(pthread_mutex_unlock(&mutex) == 0 && pthread_cond_destroy(&own) == 0);
    }
    pthread_condattr_t how;
    CHECK(pthread_condattr_init(&how) == 0 && pthread_condattr_setclock(&how, CLOCK_PROCESS_CPUTIME_ID) == EINVAL);
}

static void *take(void *unused) {
    CHECK(pthread_mutex_lock(&mutex) == 0);
    waiting++;
    while (tokens == 0)
        CHECK(pthread_cond_wait(&condition, &mutex) == 0);
    tokens--;
    woken++;
    has_the_mutex();
    CHECK(pthread_mutex_unlock(&mutex) == 0);
    return unused;
}

static void give(int count, int (*tell)(pthread_cond_t *)) {
    CHECK(pthread_mutex_lock(&mutex) == 0);
    tokens += count;
    CHECK(tell(&condition) == 0 && pthread_mutex_unlock(&mutex) == 0);
}

static void whom(void) {
    enum { THREADS = 8 };
    pthread_t all[THREADS];
    clause("pthread_cond_signal", "unblocks at least one of those that wait; pthread_cond_broadcast all");
    CHECK(pthread_cond_signal(&condition) == 0 && pthread_cond_broadcast(&condition) == 0);
    for (int i = 0; i < THREADS; i++)
        all[i] = thread(take, NULL);
    await(&waiting, THREADS);
    for (int i = 1; i <= 3; i++) {
        give(1, pthread_cond_signal);
        await(&woken, i);
    }
    give(THREADS - 3, pthread_cond_broadcast);
    for (int i = 0; i < THREADS; i++)
        CHECK(result_of(all[i]) == NULL);
    CHECK(tokens == 0 && woken == THREADS);
}

static void *wait_with_the_mutex(void *unused) {
    take(unused);
    return unused;
}

static void destroyed(void) {
    clause("pthread_cond_destroy", "right after a broadcast, once nobody uses it any more");
    for (int i = 0; i < 50; i++) {
        waiting = woken = 0;
        pthread_t one = thread(wait_with_the_mutex, NULL), other = thread(wait_with_the_mutex, NULL);
        await(&waiting, 2);
        give(2, pthread_cond_broadcast);
        await(&woken, 2);
        CHECK(pthread_cond_destroy(&condition) == 0 && pthread_cond_init(&condition, NULL) == 0);
        CHECK(result_of(one) == NULL && result_of(other) == NULL);
    }
}

static void not_the_owner(void) {
    clause("pthread_cond_wait", "EPERM with an ERRORCHECK mutex of which the caller is not the owner");
    CHECK(pthread_cond_wait(&condition, &mutex) == EPERM);
    CHECK(pthread_cond_timedwait(&condition, &mutex, &(struct timespec){.tv_sec = 1}) == EPERM);
}

int main(void) {
    not_the_owner();
    instants();
    whom();
    destroyed();
}
