/* Threads are cancelled where they wait: in a sleep, for a condition and in a read. Their handlers run. */
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static int ends[2], cleaned;

static void clean(void *held) {
    cleaned++;
    if (held)
        pthread_mutex_unlock(held);
}

static void *wait_for_ever(void *number) {
    char byte;
    pthread_cleanup_push(clean, number ? NULL : &mutex);
    switch ((long)number) {
    case 0:
        pthread_mutex_lock(&mutex);
        for (;;)
            pthread_cond_wait(&never, &mutex);
    case 1:
        for (;;)
            nanosleep(&(struct timespec){.tv_sec = 1000}, NULL);
    default:
        CHECK(read(ends[0], &byte, 1) == 1);
    }
    pthread_cleanup_pop(0);
    return NULL;
}

int main(void) {
    CHECK(pipe(ends) == 0);
    for (long how = 0; how < 3; how++) {
        pthread_t thread;
        void *result;
        CHECK(pthread_create(&thread, NULL, wait_for_ever, (void *)how) == 0);
        for (int i = 0; i < 10; i++)
            sched_yield();
        CHECK(pthread_cancel(thread) == 0);
        CHECK(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
        CHECK(cleaned == how + 1);
    }
    CHECK(pthread_mutex_trylock(&mutex) == 0);
}
