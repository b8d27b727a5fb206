/* Barriers and spin locks. */
#include "clause.h"

enum { THREADS = 5, ROUNDS = 200 };

static pthread_barrier_t barrier;
static atomic_int serial, arrived[ROUNDS];

static void *meet(void *unused) {
    for (int round = 0; round < ROUNDS; round++) {
        arrived[round]++;
        int result = pthread_barrier_wait(&barrier);
        CHECK(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
        CHECK(arrived[round] == THREADS); /* all are here before one goes on */
        serial += result != 0;
        pthread_barrier_wait(&barrier);
        CHECK(serial == round + 1);
        pthread_barrier_wait(&barrier);
    }
    return unused;
}

static void *use_once(void *of) {
    int result = pthread_barrier_wait(of);
    return (void *)(long)(result == PTHREAD_BARRIER_SERIAL_THREAD);
}

static pthread_spinlock_t spin;
static long count;

static void *add(void *unused) {
    for (int i = 0; i < 2000; i++) {
        CHECK(pthread_spin_lock(&spin) == 0);
        count++;
        CHECK(pthread_spin_unlock(&spin) == 0);
    }
    return unused;
}

int main(void) {
    clause("pthread_barrier_wait",
           "exactly one thread of each round is the serial one, and none goes on before all are there");
    CHECK(pthread_barrier_init(&barrier, NULL, 0) == EINVAL);
    CHECK(pthread_barrier_init(&barrier, NULL, THREADS) == 0);
    in_threads(THREADS, meet);
    CHECK(serial == ROUNDS);
    clause("pthread_barrier_destroy", "as soon as the caller has returned from the barrier");
    for (int i = 0; i < 100; i++) {
        pthread_barrier_t *one = malloc(sizeof *one);
        CHECK(one && pthread_barrier_init(one, NULL, 2) == 0);
        pthread_t other = thread(use_once, one);
        int mine = pthread_barrier_wait(one) == PTHREAD_BARRIER_SERIAL_THREAD;
        CHECK(pthread_barrier_destroy(one) == 0);
        free(one);
        CHECK(mine + (int)(long)result_of(other) == 1);
    }
    clause("pthread_barrier_init", "a barrier for one holds nobody");
    CHECK(pthread_barrier_destroy(&barrier) == 0 && pthread_barrier_init(&barrier, NULL, 1) == 0);
    CHECK(pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD && pthread_barrier_destroy(&barrier) == 0);
    clause("pthread_spin_lock", "excludes; EBUSY for who tries");
    CHECK(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE) == 0 && pthread_spin_lock(&spin) == 0);
    CHECK(pthread_spin_trylock(&spin) == EBUSY && pthread_spin_unlock(&spin) == 0);
    in_threads(4, add);
    CHECK(count == 8000 && pthread_spin_destroy(&spin) == 0);
}
