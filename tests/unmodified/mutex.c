/* Mutexes of three types, and errno, which is each thread's own. */
#include <errno.h>
#include <sched.h>

#include "check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, recursive, checking;
static long counted;

static void *count(void *number) {
    errno = (int)(long)number;
    for (int i = 0; i < 2000; i++) {
        CHECK(pthread_mutex_lock(&mutex) == 0);
        long seen = counted;
        if (i % 100 == 0)
            sched_yield();
        counted = seen + 1;
        CHECK(pthread_mutex_unlock(&mutex) == 0);
    }
    CHECK(errno == (int)(long)number);
    return NULL;
}

static void *others(void *unused) {
    (void)unused;
    CHECK(pthread_mutex_trylock(&recursive) == EBUSY);
    CHECK(pthread_mutex_unlock(&checking) == EPERM);
    return NULL;
}

int main(void) {
    in_threads(16, count);
    CHECK(counted == 32000);
    pthread_mutexattr_t attributes;
    CHECK(pthread_mutexattr_init(&attributes) == 0);
    CHECK(pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE) == 0);
    CHECK(pthread_mutex_init(&recursive, &attributes) == 0);
    CHECK(pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK) == 0);
    CHECK(pthread_mutex_init(&checking, &attributes) == 0);
    CHECK(pthread_mutex_lock(&recursive) == 0 && pthread_mutex_lock(&recursive) == 0);
    CHECK(pthread_mutex_lock(&checking) == 0 && pthread_mutex_lock(&checking) == EDEADLK);
    in_threads(2, others);
    CHECK(pthread_mutex_unlock(&recursive) == 0 && pthread_mutex_unlock(&recursive) == 0);
    CHECK(pthread_mutex_unlock(&checking) == 0);
}
