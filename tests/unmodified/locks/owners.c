/* Threads have locks for which others wait, and can go on one after the other. Says in which order they do, and in
 * which order they do once nobody waits any more. */
#include <semaphore.h>

#include "../check.h"

enum { OWNERS = 3, LOCKS = 4, WAITERS = 6 };

/* One has a lock for which one waits, one two such locks, one a lock for which three wait. */
static const char *const names[OWNERS] = {"one", "two", "three"};
static const int first_lock[OWNERS + 1] = {0, 1, 3, LOCKS};
static const int waits_for[WAITERS] = {0, 1, 2, 3, 3, 3};

static pthread_mutex_t locks[LOCKS];
static sem_t have_locked, all_wait, go_on[OWNERS], again[OWNERS];
static int waiting;

static void *have(void *number) {
    long owner = (long)number;
    for (int i = first_lock[owner]; i < first_lock[owner + 1]; i++)
        CHECK(pthread_mutex_lock(&locks[i]) == 0);
    sem_post(&have_locked);
    sem_wait(&go_on[owner]);
    printf(" %s", names[owner]);
    for (int i = first_lock[owner]; i < first_lock[owner + 1]; i++)
        CHECK(pthread_mutex_unlock(&locks[i]) == 0);
    sem_wait(&again[owner]);
    printf(" %s", names[owner]);
    return NULL;
}

static void *wait(void *number) {
    pthread_mutex_t *lock = &locks[waits_for[(long)number]];
    if (++waiting == WAITERS)
        sem_post(&all_wait);
    CHECK(pthread_mutex_lock(lock) == 0);
    CHECK(pthread_mutex_unlock(lock) == 0);
    return NULL;
}

int main(void) {
    pthread_t owners[OWNERS], waiters[WAITERS];
    CHECK(sem_init(&have_locked, 0, 0) == 0 && sem_init(&all_wait, 0, 0) == 0);
    for (int i = 0; i < LOCKS; i++)
        CHECK(pthread_mutex_init(&locks[i], NULL) == 0);
    for (long i = 0; i < OWNERS; i++) {
        CHECK(sem_init(&go_on[i], 0, 0) == 0 && sem_init(&again[i], 0, 0) == 0);
        CHECK(pthread_create(&owners[i], NULL, have, (void *)i) == 0);
        sem_wait(&have_locked);
    }
    for (long i = 0; i < WAITERS; i++)
        CHECK(pthread_create(&waiters[i], NULL, wait, (void *)i) == 0);
    sem_wait(&all_wait);
    for (int i = 0; i < OWNERS; i++)
        sem_post(&go_on[i]);
    for (int i = 0; i < WAITERS; i++)
        CHECK(pthread_join(waiters[i], NULL) == 0);
    printf(",");
    for (int i = 0; i < OWNERS; i++)
        sem_post(&again[i]);
    for (int i = 0; i < OWNERS; i++)
        CHECK(pthread_join(owners[i], NULL) == 0);
    printf("\n");
}
