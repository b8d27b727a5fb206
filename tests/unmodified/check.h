/*
 * For programs that know POSIX threads, and nothing of Catapults.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                                    \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

/* Runs it in so many threads, which get their numbers, and waits for them. */
static inline void in_threads(int count, void *(*run)(void *)) {
    pthread_t threads[count];
    for (long i = 0; i < count; i++)
        CHECK(pthread_create(&threads[i], NULL, run, (void *)i) == 0);
    for (int i = 0; i < count; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
}
