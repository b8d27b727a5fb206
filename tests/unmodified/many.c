/* A thousand threads at a time, which all wait; then one after the other, joined and detached. */
#include <semaphore.h>
#include <sched.h>

#include "check.h"

enum { THREADS = 1000 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int ended;
static sem_t begun, end;

static void *wait_for_the_end(void *number) {
    sem_post(&begun);
    sem_wait(&end);
    return number;
}

static void *end_alone(void *unused) {
    pthread_mutex_lock(&mutex);
    ended++;
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void) {
    static pthread_t threads[THREADS];
    pthread_attr_t detached;
    CHECK(sem_init(&begun, 0, 0) == 0 && sem_init(&end, 0, 0) == 0);
    for (long i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, wait_for_the_end, (void *)i) == 0);
    for (int i = 0; i < THREADS; i++)
        sem_wait(&begun);
    for (int i = 0; i < THREADS; i++)
        sem_post(&end);
    for (long i = 0; i < THREADS; i++) {
        void *result;
        CHECK(pthread_join(threads[i], &result) == 0 && result == (void *)i);
    }
    CHECK(pthread_attr_init(&detached) == 0);
    CHECK(pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED) == 0);
    for (long i = 0; i < THREADS; i++) {
        pthread_t thread;
        CHECK(pthread_create(&thread, &detached, end_alone, NULL) == 0);
    }
    for (int all = 0; !all; sched_yield()) {
        pthread_mutex_lock(&mutex);
        all = ended == THREADS;
        pthread_mutex_unlock(&mutex);
    }
}
