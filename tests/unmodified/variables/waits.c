/* One thread waits for the end of another, and one for a semaphore. Says in which order they go on: the other, which
 * then ends, is woken first. */
#include <semaphore.h>

#include "../check.h"

static sem_t ends, goes_on, waits;

static void *end(void *unused) {
    sem_post(&waits);
    sem_wait(&ends);
    return unused;
}

static void *join(void *thread) {
    sem_post(&waits);
    CHECK(pthread_join(*(pthread_t *)thread, NULL) == 0);
    printf(" thread");
    return NULL;
}

static void *go_on(void *unused) {
    sem_post(&waits);
    sem_wait(&goes_on);
    printf(" condition");
    return unused;
}

int main(void) {
    pthread_t ending, others[2];
    CHECK(sem_init(&ends, 0, 0) == 0 && sem_init(&goes_on, 0, 0) == 0 && sem_init(&waits, 0, 0) == 0);
    CHECK(pthread_create(&ending, NULL, end, NULL) == 0);
    CHECK(pthread_create(&others[0], NULL, join, &ending) == 0);
    CHECK(pthread_create(&others[1], NULL, go_on, NULL) == 0);
    for (int i = 0; i < 3; i++)
        sem_wait(&waits);
    sem_post(&ends);
    sem_post(&goes_on);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(others[i], NULL) == 0);
    printf("\n");
}
