/*
 * What the tests of policies with nodes share: the policies, and what their threads do.
 */
#ifndef NODES_TEST_H
#define NODES_TEST_H

#include <errno.h>
#include <stdatomic.h>
#include <sys/syscall.h>

#include "catapults.h"
#include "sa.h"
#include "support/child.h"

#define PLACES POLICIES "/places.so"
#define FIFO POLICIES "/per_processor_fifo.so"
#define LEAST_LOADED POLICIES "/least_loaded.so"

enum { MS = 1000000, THREADS = 12 };

static catapults_int at, broken, given = 1;

static inline void begin(int processors, const char *policy) {
    alarm(HANGS);
    require(catapults_init(&(struct catapults_options){.processors = processors, .policy = policy}) == 0);
    require(catapults_schedvar_register("at", &at) == (strcmp(policy, PLACES) == 0 ? 0 : ENOENT));
    catapults_schedvar_register("broken", &broken);
    catapults_schedvar_register("given", &given);
}

static inline void begin_variables(void) {
    require(catapults_schedvar_register("at", &at) == 0 && catapults_schedvar_register("broken", &broken) == 0 &&
            catapults_schedvar_register("given", &given) == 0);
}

static inline catapults_t spawn(void *(*start)(void *), void *argument) {
    catapults_t thread;
    require(catapults_create(&thread, NULL, start, argument) == 0);
    return thread;
}

static inline void join_all(catapults_t *threads, int count) {
    for (int i = 0; i < count; i++)
        require(catapults_join(threads[i], NULL) == 0);
}

static inline void set(catapults_int *variable, catapults_int value) {
    __atomic_store_n(variable, value, __ATOMIC_RELAXED);
}

#if defined(ACTIVATED) /* a processor has many of them there */
__attribute__((noipa, unused)) static pid_t kernel_thread(void) { return sa_self()->sa_cpu; }
static inline pid_t first_kernel_thread(void) { return 0; }
#else
static inline pid_t first_kernel_thread(void) { return getpid(); }
__attribute__((noipa, unused)) static pid_t kernel_thread(void) { return (pid_t)syscall(SYS_gettid); }
#endif

/* ---- What threads do --------------------------------------------------------------------------------------------- */

static atomic_int there;

/* None of them lets another run. */
static inline void *meet(void *argument) {
    atomic_fetch_add(&there, 1);
    while (atomic_load(&there) < 3)
        ;
    return argument;
}

static inline void meet_all(void) {
    catapults_t threads[] = {spawn(meet, NULL), spawn(meet, NULL)};
    meet(NULL);
    join_all(threads, 2);
}

static atomic_int spun[6];
static atomic_bool spin_on = true;

/* Without any call of the runtime. */
static inline void *spin(void *argument) {
    while (atomic_load_explicit(&spin_on, memory_order_relaxed))
        atomic_fetch_add_explicit((atomic_int *)argument, 1, memory_order_relaxed);
    return NULL;
}

static inline void *turn(void *argument) {
    for (int i = 0; i < 500; i++)
        catapults_yield();
    return argument;
}

static catapults_mutex_t mutex = CATAPULTS_MUTEX_INITIALIZER;
static int counter;

static inline void *come_and_go(void *argument) {
    unsigned seed = (unsigned)(uintptr_t)argument;
    for (int i = 0; i < 200; i++) {
        switch (rand_r(&seed) % 4) {
        case 0:
            catapults_sleep(rand_r(&seed) % 50000);
            break;
        case 1:
            catapults_yield();
            break;
        case 2:
            require(catapults_mutex_lock(&mutex) == 0);
            counter++;
            catapults_yield();
            require(catapults_mutex_unlock(&mutex) == 0);
            break;
        default:
            for (int j = 0; j < 1000; j++)
                atomic_fetch_add_explicit(&spun[0], 1, memory_order_relaxed);
        }
    }
    return argument;
}

#endif
