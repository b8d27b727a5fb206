/* A thread ends with a robust mutex: whoever waits for it is told. */
#include <errno.h>
#include <sched.h>
#include <semaphore.h>

#include "check.h"

static pthread_mutex_t mutex;
static sem_t owned;
static int told;

static void *end_with_it(void *unused) {
    CHECK(pthread_mutex_lock(&mutex) == 0);
    CHECK(sem_post(&owned) == 0);
    for (int i = 0; i < 20; i++)
        sched_yield();
    return unused;
}

static void *wait_for_it(void *unused) {
    int result = pthread_mutex_lock(&mutex);
    if (result == EOWNERDEAD) {
        told++;
        CHECK(pthread_mutex_consistent(&mutex) == 0);
        result = 0;
    }
    CHECK(result == 0 && pthread_mutex_unlock(&mutex) == 0);
    return unused;
}

int main(void) {
    pthread_mutexattr_t attributes;
    pthread_t owner, waiters[2];
    CHECK(sem_init(&owned, 0, 0) == 0);
    CHECK(pthread_mutexattr_init(&attributes) == 0);
    CHECK(pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST) == 0);
    CHECK(pthread_mutex_init(&mutex, &attributes) == 0);
    CHECK(pthread_create(&owner, NULL, end_with_it, NULL) == 0);
    CHECK(sem_wait(&owned) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&waiters[i], NULL, wait_for_it, NULL) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(waiters[i], NULL) == 0);
    CHECK(pthread_join(owner, NULL) == 0 && told == 1);
}
