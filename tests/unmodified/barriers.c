/* Barriers, read-write locks and pthread_once. */
#include <sched.h>

#include "check.h"

enum { THREADS = 10, ROUNDS = 100 };

static pthread_barrier_t barrier;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int arrived, last, initialized;
static long written;

static void initialize(void) {
    sched_yield();
    initialized++;
}

static void *meet(void *number) {
    CHECK(pthread_once(&once, initialize) == 0 && initialized == 1);
    for (int i = 0; i < ROUNDS; i++) {
        __atomic_add_fetch(&arrived, 1, __ATOMIC_SEQ_CST);
        if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
            __atomic_add_fetch(&last, 1, __ATOMIC_SEQ_CST);
        CHECK(__atomic_load_n(&arrived, __ATOMIC_SEQ_CST) >= THREADS * (i + 1));
        if ((long)number < 3) {
            pthread_rwlock_wrlock(&lock);
            long before = written;
            sched_yield();
            written = before + 1;
        } else {
            pthread_rwlock_rdlock(&lock);
            long before = written;
            sched_yield();
            CHECK(written == before);
        }
        CHECK(pthread_rwlock_unlock(&lock) == 0);
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

int main(void) {
    CHECK(pthread_barrier_init(&barrier, NULL, THREADS) == 0);
    in_threads(THREADS, meet);
    CHECK(last == ROUNDS && written == 3 * ROUNDS);
}
