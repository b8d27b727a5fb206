/* Threads serve requests. Who runs next when all can go on is the policy's. Says in which order they do: by requests
 * that are under way, by what they were asked for, and once those have ended. */
#include <semaphore.h>

#include "../check.h"

enum { THREADS = 4 };

struct request {
    char kind;
    short weight;
    unsigned char urgency;
};

int served;
static sem_t begin[THREADS], go_on[THREADS], end[THREADS], has_served;
static volatile int work;

__attribute__((noinline)) static int begin_request(int number) {
    work += number;
    return work;
}

__attribute__((noinline)) static int end_request(int number) {
    if (number < 0)
        return work - 1;
    work -= number;
    return work + served;
}

__attribute__((noinline)) int take(struct request *request, int number) {
    work += request->kind + request->weight + request->urgency + number;
    return work;
}

__attribute__((noinline)) int waits_for_row(int number) {
    sem_wait(&go_on[number]);
    return work + number;
}

static void *serve(void *argument) {
    int number = (int)(long)argument;
    struct request request = {.kind = 'r', .weight = (short)-number, .urgency = (unsigned char)number};
    take(&request, number);
    for (int i = 0; i < number; i++)
        begin_request(i);
    sem_post(&begin[number]);
    waits_for_row(number);
    printf(" %d", number);
    for (int i = 0; i < number; i++)
        end_request(i);
    served++;
    sem_post(&has_served);
    sem_wait(&end[number]);
    printf(" %d", number);
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    CHECK(sem_init(&has_served, 0, 0) == 0);
    for (long i = 0; i < THREADS; i++) {
        CHECK(sem_init(&begin[i], 0, 0) == 0 && sem_init(&go_on[i], 0, 0) == 0 && sem_init(&end[i], 0, 0) == 0);
        CHECK(pthread_create(&threads[i], NULL, serve, (void *)i) == 0);
        sem_wait(&begin[i]);
    }
    for (int i = 0; i < THREADS; i++)
        sem_post(&go_on[i]);
    for (int i = 0; i < THREADS; i++)
        sem_wait(&has_served);
    CHECK(served == THREADS);
    printf(",");
    for (int i = 0; i < THREADS; i++)
        sem_post(&end[i]);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    printf("\n");
}
