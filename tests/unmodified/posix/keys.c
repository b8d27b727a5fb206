/* What is a thread's own, and what is done once. */
#include <limits.h>

#include "clause.h"

static pthread_key_t keys[3], rounds_key;
static atomic_int destroyed, rounds, calls;

static void destroy(void *value) {
    CHECK(value != NULL && pthread_getspecific(keys[0]) != value);
    destroyed++;
}

static void again(void *value) {
    rounds++;
    CHECK(pthread_setspecific(rounds_key, value) == 0);
}

static void *use(void *value) {
    CHECK(pthread_getspecific(keys[0]) == NULL);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_setspecific(keys[i], value) == 0 && pthread_getspecific(keys[i]) == value);
    CHECK(pthread_setspecific(keys[2], value) == 0 && pthread_setspecific(keys[2], NULL) == 0);
    return NULL;
}

static void *for_ever(void *value) {
    CHECK(pthread_setspecific(rounds_key, value) == 0);
    return NULL;
}

static void values(void) {
    clause("pthread_key_create", "the value is NULL in new threads, and at the end destructors get what is not");
    for (int i = 0; i < 3; i++)
        CHECK(pthread_key_create(&keys[i], destroy) == 0);
    use(keys);
    for (int i = 1; i <= 20; i++) {
        CHECK(result_of(thread(use, &destroyed)) == NULL && destroyed == 2 * i);
        CHECK(pthread_getspecific(keys[0]) == keys);
    }
    clause("pthread_key_delete", "calls no destructor; then the key can be made anew, with NULL everywhere");
    CHECK(pthread_key_delete(keys[0]) == 0 && destroyed == 40 && pthread_key_delete(keys[0]) == EINVAL);
    CHECK(pthread_key_create(&keys[0], NULL) == 0 && pthread_getspecific(keys[0]) == NULL);
    clause("pthread_exit", "destructors that set values again are called PTHREAD_DESTRUCTOR_ITERATIONS times");
    CHECK(pthread_key_create(&rounds_key, again) == 0 && result_of(thread(for_ever, keys)) == NULL);
    CHECK(rounds == PTHREAD_DESTRUCTOR_ITERATIONS);
}

static void many(void) {
    static pthread_key_t all[PTHREAD_KEYS_MAX];
    int made = 0, error;
    clause("pthread_key_create", "EAGAIN once there are PTHREAD_KEYS_MAX");
    while ((error = pthread_key_create(&all[made], NULL)) == 0)
        made++;
    CHECK(error == EAGAIN && made > PTHREAD_KEYS_MAX - 20);
    while (made > 0)
        CHECK(pthread_setspecific(all[made - 1], all) == 0 && pthread_key_delete(all[--made]) == 0);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_int together;

static void initialize(void) {
    calls++;
    for (int i = 0; i < 5; i++)
        pause_shortly();
    calls += 10;
}

static void *need(void *unused) {
    together++;
    CHECK(pthread_once(&once, initialize) == 0 && calls == 11);
    return unused;
}

int main(void) {
    values();
    many();
    clause("pthread_once", "one calls the routine, and the others return when it is done");
    in_threads(8, need);
    CHECK(calls == 11 && together == 8);
}
