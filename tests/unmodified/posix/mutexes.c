/* Mutexes: types, robustness, protocols, and waits that end. */
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clause.h"

static pthread_mutex_t mutex;

static void init(int type, int robust, int protocol) {
    pthread_mutexattr_t how;
    CHECK(pthread_mutexattr_init(&how) == 0 && pthread_mutexattr_settype(&how, type) == 0);
    CHECK(pthread_mutexattr_setrobust(&how, robust) == 0 && pthread_mutexattr_setprotocol(&how, protocol) == 0);
    CHECK(pthread_mutex_init(&mutex, &how) == 0 && pthread_mutexattr_destroy(&how) == 0);
}

static void *try(void *unused) { return unused ? unused : (void *)(long)pthread_mutex_trylock(&mutex); }
static void *unlock(void *unused) { return unused ? unused : (void *)(long)pthread_mutex_unlock(&mutex); }

static long elsewhere(void *(*what)(void *)) { return (long)result_of(thread(what, NULL)); }

static void types(void) {
    clause("pthread_mutex_lock", "ERRORCHECK: EDEADLK for its owner; EPERM to unlock for others");
    init(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE);
    CHECK(pthread_mutex_unlock(&mutex) == EPERM && pthread_mutex_lock(&mutex) == 0);
    CHECK(pthread_mutex_lock(&mutex) == EDEADLK && elsewhere(unlock) == EPERM && elsewhere(try) == EBUSY);
    CHECK(pthread_mutex_unlock(&mutex) == 0 && pthread_mutex_destroy(&mutex) == 0);
    clause("pthread_mutex_lock", "RECURSIVE: as often as it was locked it must be unlocked");
    init(PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE);
    for (int i = 0; i < 5; i++)
        CHECK((i % 2 ? pthread_mutex_trylock(&mutex) : pthread_mutex_lock(&mutex)) == 0);
    for (int i = 0; i < 5; i++)
        CHECK(elsewhere(try) == EBUSY && pthread_mutex_unlock(&mutex) == 0);
    CHECK(pthread_mutex_unlock(&mutex) == EPERM && pthread_mutex_destroy(&mutex) == 0);
}

static void *expire(void *unused) {
    const struct timespec past = {.tv_sec = 1}, soon = from_now(CLOCK_REALTIME, 0, 20000000);
    const struct timespec wrong = {.tv_nsec = 1000000000};
    CHECK(pthread_mutex_timedlock(&mutex, &past) == ETIMEDOUT && pthread_mutex_timedlock(&mutex, &soon) == ETIMEDOUT);
    CHECK(pthread_mutex_timedlock(&mutex, &wrong) == EINVAL);
    const struct timespec a_while = from_now(CLOCK_MONOTONIC, 0, 20000000);
    CHECK(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &past) == ETIMEDOUT);
    CHECK(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &a_while) == ETIMEDOUT);
    CHECK(seconds_at(CLOCK_MONOTONIC) >= (double)a_while.tv_sec + (double)a_while.tv_nsec / 1e9);
    CHECK(pthread_mutex_clocklock(&mutex, CLOCK_PROCESS_CPUTIME_ID, &past) == EINVAL);
    return unused;
}

static void times(void) {
    clause("pthread_mutex_timedlock", "ETIMEDOUT once the instant has passed, on both clocks; EINVAL for no time");
    init(PTHREAD_MUTEX_DEFAULT, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE);
    CHECK(pthread_mutex_lock(&mutex) == 0 && result_of(thread(expire, NULL)) == NULL);
    CHECK(pthread_mutex_unlock(&mutex) == 0);
    clause("pthread_mutex_timedlock", "the instant means nothing if the mutex can be locked at once");
    CHECK(pthread_mutex_timedlock(&mutex, &(struct timespec){.tv_sec = 1}) == 0);
    CHECK(pthread_mutex_unlock(&mutex) == 0 && pthread_mutex_destroy(&mutex) == 0);
}

/* ---- Robust ------------------------------------------------------------------------------------------------------ */

static atomic_int waiting;

static void *inherit(void *unused) {
    waiting++;
    CHECK(pthread_mutex_lock(&mutex) == EOWNERDEAD && pthread_mutex_consistent(&mutex) == 0);
    CHECK(pthread_mutex_unlock(&mutex) == 0);
    return unused;
}

static void *lock_and_end(void *awaited) {
    CHECK(pthread_mutex_lock(&mutex) == 0);
    if (awaited) {
        await(&waiting, 1);
        pause_shortly();
    }
    return NULL;
}

static void robust(void) {
    clause("pthread_mutex_lock", "ROBUST: EOWNERDEAD once its owner has ended, before or in the middle of the wait");
    clause("pthread_mutex_consistent", "else ENOTRECOVERABLE, for all and for good; EINVAL if nothing is wrong");
    const int protocols[] = {PTHREAD_PRIO_NONE, PTHREAD_PRIO_INHERIT};
    for (int i = 0; i < 2; i++) {
        init(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_ROBUST, protocols[i]);
        CHECK(result_of(thread(lock_and_end, NULL)) == NULL && pthread_mutex_trylock(&mutex) == EOWNERDEAD);
        CHECK(pthread_mutex_consistent(&mutex) == 0 && pthread_mutex_consistent(&mutex) == EINVAL);
        CHECK(pthread_mutex_unlock(&mutex) == 0);
        waiting = 0;
        pthread_t owner = thread(lock_and_end, &mutex);
        while (pthread_mutex_trylock(&mutex) == 0) {
            CHECK(pthread_mutex_unlock(&mutex) == 0);
            sched_yield();
        }
        pthread_t heir = thread(inherit, NULL);
        CHECK(result_of(owner) == NULL && result_of(heir) == NULL);
        CHECK(result_of(thread(lock_and_end, NULL)) == NULL && pthread_mutex_lock(&mutex) == EOWNERDEAD);
        CHECK(pthread_mutex_unlock(&mutex) == 0 && pthread_mutex_lock(&mutex) == ENOTRECOVERABLE);
        CHECK(elsewhere(try) == ENOTRECOVERABLE && pthread_mutex_destroy(&mutex) == 0);
    }
}

/* ---- Protocols --------------------------------------------------------------------------------------------------- */

static void inheriting(void) {
    clause("pthread_mutexattr_setprotocol", "INHERIT: EDEADLK for its owner, EBUSY for who tries, timed waits end");
    init(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_INHERIT);
    CHECK(pthread_mutex_lock(&mutex) == 0 && pthread_mutex_lock(&mutex) == EDEADLK && elsewhere(try) == EBUSY);
    CHECK(result_of(thread(expire, NULL)) == NULL && elsewhere(unlock) == EPERM);
    CHECK(pthread_mutex_unlock(&mutex) == 0 && pthread_mutex_destroy(&mutex) == 0);
}

static void protecting(void) {
    pthread_mutexattr_t how;
    int ceiling;
    clause("pthread_mutexattr_setprioceiling", "PROTECT: the ceiling is what was set; EINVAL for what is no priority");
    CHECK(pthread_mutexattr_init(&how) == 0 && pthread_mutexattr_setprotocol(&how, PTHREAD_PRIO_PROTECT) == 0);
    CHECK(pthread_mutexattr_setprioceiling(&how, 20) == 0 && pthread_mutexattr_setprioceiling(&how, 1000) == EINVAL);
    CHECK(pthread_mutexattr_getprioceiling(&how, &ceiling) == 0 && ceiling == 20);
    CHECK(pthread_mutex_init(&mutex, &how) == 0 && pthread_mutex_getprioceiling(&mutex, &ceiling) == 0);
    CHECK(ceiling == 20 && pthread_mutex_destroy(&mutex) == 0 && pthread_mutexattr_destroy(&how) == 0);
}

/* ---- Shared ------------------------------------------------------------------------------------------------------ */

static void shared(void) {
    clause("pthread_mutexattr_setpshared", "processes exclude each other");
    struct {
        pthread_mutex_t mutex;
        volatile long count;
    } *common = mmap(NULL, sizeof *common, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_t how;
    CHECK(common != MAP_FAILED && pthread_mutexattr_init(&how) == 0);
    CHECK(pthread_mutexattr_setpshared(&how, PTHREAD_PROCESS_SHARED) == 0 &&
          pthread_mutex_init(&common->mutex, &how) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    for (int i = 0; i < 2000; i++) {
        CHECK(pthread_mutex_lock(&common->mutex) == 0);
        common->count = common->count + 1;
        CHECK(pthread_mutex_unlock(&common->mutex) == 0);
    }
    if (child == 0)
        _exit(0);
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0 && common->count == 4000);
}

int main(void) {
    types();
    times();
    robust();
    inheriting();
    protecting();
    shared();
}
