/* Conditions: turns that go round, all at once, and a wait with an end. */
#include <errno.h>
#include <stdbool.h>
#include <time.h>

#include "check.h"

enum { THREADS = 8, ROUNDS = 500 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER, never = PTHREAD_COND_INITIALIZER;
static long turn, waiting;
static bool open;

static void *take_turns(void *number) {
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < ROUNDS; i++) {
        while (turn % THREADS != (long)number)
            pthread_cond_wait(&changed, &mutex);
        turn++;
        pthread_cond_broadcast(&changed);
    }
    waiting++;
    while (!open)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, take_turns, (void *)i) == 0);
    struct timespec before, after;
    clock_gettime(CLOCK_REALTIME, &before);
    struct timespec end = before;
    end.tv_nsec += 20000000;
    if (end.tv_nsec >= 1000000000) {
        end.tv_sec++;
        end.tv_nsec -= 1000000000;
    }
    pthread_mutex_lock(&mutex);
    int result = 0;
    while (result == 0)
        result = pthread_cond_timedwait(&never, &mutex, &end);
    clock_gettime(CLOCK_REALTIME, &after);
    CHECK(result == ETIMEDOUT);
    CHECK(after.tv_sec > end.tv_sec || (after.tv_sec == end.tv_sec && after.tv_nsec >= end.tv_nsec));
    while (waiting < THREADS) {
        pthread_mutex_unlock(&mutex);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        pthread_mutex_lock(&mutex);
    }
    open = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(turn == THREADS * ROUNDS);
}
