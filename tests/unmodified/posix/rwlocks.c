/* Read-write locks: who gets in while others wait, and waits that end. */
#include "clause.h"

static pthread_rwlock_t lock;
static atomic_int begun;

static void init(int prefers) {
    pthread_rwlockattr_t how;
    CHECK(pthread_rwlockattr_init(&how) == 0 && pthread_rwlockattr_setkind_np(&how, prefers) == 0);
    CHECK(pthread_rwlock_init(&lock, &how) == 0);
}

static void *write_once(void *unused) {
    begun = 1;
    CHECK(pthread_rwlock_wrlock(&lock) == 0 && pthread_rwlock_unlock(&lock) == 0);
    return unused;
}

static void *try_to_read(void *unused) {
    int error = pthread_rwlock_tryrdlock(&lock);
    if (error == 0)
        CHECK(pthread_rwlock_unlock(&lock) == 0);
    return unused ? unused : (void *)(long)error;
}

static void *try_to_write(void *unused) {
    int error = pthread_rwlock_trywrlock(&lock);
    if (error == 0)
        CHECK(pthread_rwlock_unlock(&lock) == 0);
    return unused ? unused : (void *)(long)error;
}

static long elsewhere(void *(*what)(void *)) { return (long)result_of(thread(what, NULL)); }

/* A reader that holds the lock, and a writer that waits. */
static void preferences(void) {
    clause("pthread_rwlock_rdlock", "without a preference for writers, readers come in while a writer waits");
    init(PTHREAD_RWLOCK_PREFER_READER_NP);
    CHECK(pthread_rwlock_rdlock(&lock) == 0);
    begun = 0;
    pthread_t writer = thread(write_once, NULL);
    await(&begun, 1);
    for (int i = 0; i < 20; i++) {
        pause_shortly();
        CHECK(elsewhere(try_to_read) == 0 && elsewhere(try_to_write) == EBUSY);
    }
    CHECK(pthread_rwlock_rdlock(&lock) == 0 && pthread_rwlock_unlock(&lock) == 0); /* once more */
    CHECK(pthread_rwlock_unlock(&lock) == 0 && result_of(writer) == NULL && pthread_rwlock_destroy(&lock) == 0);
    clause("pthread_rwlockattr_setkind_np", "with it, they wait behind the writer");
    init(PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    CHECK(pthread_rwlock_rdlock(&lock) == 0);
    writer = thread(write_once, NULL);
    while (elsewhere(try_to_read) != EBUSY)
        pause_shortly();
    const struct timespec soon = from_now(CLOCK_REALTIME, 0, 10000000);
    CHECK(pthread_rwlock_timedrdlock(&lock, &soon) == ETIMEDOUT);
    CHECK(pthread_rwlock_unlock(&lock) == 0 && result_of(writer) == NULL && elsewhere(try_to_read) == 0);
    CHECK(pthread_rwlock_destroy(&lock) == 0);
}

static void *expire(void *unused) {
    const struct timespec past = {.tv_sec = 1}, wrong = {.tv_nsec = 1000000000};
    const struct timespec soon = from_now(CLOCK_REALTIME, 0, 10000000), later = from_now(CLOCK_MONOTONIC, 0, 10000000);
    CHECK(pthread_rwlock_timedrdlock(&lock, &past) == ETIMEDOUT &&
          pthread_rwlock_timedwrlock(&lock, &past) == ETIMEDOUT);
    CHECK(pthread_rwlock_timedrdlock(&lock, &soon) == ETIMEDOUT &&
          pthread_rwlock_timedwrlock(&lock, &soon) == ETIMEDOUT);
    CHECK(pthread_rwlock_timedrdlock(&lock, &wrong) == EINVAL && pthread_rwlock_timedwrlock(&lock, &wrong) == EINVAL);
    CHECK(pthread_rwlock_clockrdlock(&lock, CLOCK_MONOTONIC, &later) == ETIMEDOUT);
    CHECK(pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, &later) == ETIMEDOUT);
    return unused;
}

static void times(void) {
    clause("pthread_rwlock_timedwrlock",
           "ETIMEDOUT once the instant has passed; EINVAL for no time; EDEADLK for its owner");
    init(PTHREAD_RWLOCK_DEFAULT_NP);
    CHECK(pthread_rwlock_wrlock(&lock) == 0 && result_of(thread(expire, NULL)) == NULL);
    CHECK(pthread_rwlock_wrlock(&lock) == EDEADLK && pthread_rwlock_rdlock(&lock) == EDEADLK);
    CHECK(pthread_rwlock_unlock(&lock) == 0);
    CHECK(pthread_rwlock_timedrdlock(&lock, &(struct timespec){.tv_sec = 1}) == 0 && pthread_rwlock_unlock(&lock) == 0);
    CHECK(pthread_rwlock_destroy(&lock) == 0);
}

static struct {
    long one, other;
} pair;

static void *use(void *number) {
    for (int i = 0; i < 1000; i++) {
        if ((long)number % 3 == 0) {
            CHECK(pthread_rwlock_wrlock(&lock) == 0);
            pair.one++;
            sched_yield();
            pair.other++;
        } else {
            CHECK(pthread_rwlock_rdlock(&lock) == 0);
            CHECK(pair.one == pair.other);
        }
        CHECK(pthread_rwlock_unlock(&lock) == 0);
    }
    return NULL;
}

int main(void) {
    preferences();
    times();
    clause("pthread_rwlock_wrlock", "excludes all others");
    init(PTHREAD_RWLOCK_DEFAULT_NP);
    in_threads(6, use);
    CHECK(pair.one == 2000 && pair.other == 2000 && pthread_rwlock_destroy(&lock) == 0);
}
