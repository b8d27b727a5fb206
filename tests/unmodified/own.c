/* What each thread has for itself: keys with destructors, thread_local variables, registers of vectors. */
#include <sched.h>

#include "check.h"

static pthread_key_t key;
static int destroyed;
static _Thread_local int own = 5;

static void destroy(void *value) {
    CHECK(value != NULL);
    __atomic_add_fetch(&destroyed, 1, __ATOMIC_SEQ_CST);
}

static void *keep(void *number) {
    CHECK(pthread_getspecific(key) == NULL && own == 5);
    CHECK(pthread_setspecific(key, (char *)number + 1) == 0);
    own = (int)(long)number;
    double sum = 0;
    for (int i = 0; i < 100; i++) {
        sum += 0.5 * (double)(long)number;
        sched_yield();
        CHECK(pthread_getspecific(key) == (char *)number + 1 && own == (int)(long)number);
    }
    CHECK(sum == 50.0 * (double)(long)number);
    return NULL;
}

int main(void) {
    CHECK(pthread_key_create(&key, destroy) == 0);
    in_threads(20, keep);
    CHECK(destroyed == 20);
}
