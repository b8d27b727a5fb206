/* Says in which order threads run that become ready one after the other: at first, and after a wait. */
#include <semaphore.h>

#include "../check.h"

enum { THREADS = 5 };

static sem_t all_wait, go_on[THREADS];
static int waiting;

static void *say_twice(void *number) {
    printf(" %ld", (long)number);
    if (++waiting == THREADS)
        sem_post(&all_wait);
    sem_wait(&go_on[(long)number]);
    printf(" %ld", (long)number);
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    CHECK(sem_init(&all_wait, 0, 0) == 0);
    for (long i = 0; i < THREADS; i++) {
        CHECK(sem_init(&go_on[i], 0, 0) == 0);
        CHECK(pthread_create(&threads[i], NULL, say_twice, (void *)i) == 0);
    }
    sem_wait(&all_wait);
    printf(",");
    for (long i = 0; i < THREADS; i++)
        sem_post(&go_on[i]);
    for (long i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    printf("\n");
}
