/* A low thread has a lock that a high one waits for, and a middle one could run (CPU inheritance scheduling, 1996,
 * Figure 9). Says in which order they go on. The priorities are those of POSIX. */
#include <errno.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/resource.h>

#include "../check.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t locked;

static void *low(void *unused) {
    CHECK(pthread_mutex_lock(&lock) == 0);
    printf("low locks\n");
    sem_post(&locked);
    printf("low unlocks\n");
    CHECK(pthread_mutex_unlock(&lock) == 0);
    printf("low ends\n");
    return unused;
}

static void *middle(void *unused) {
    printf("middle\n");
    return unused;
}

static void *high(void *unused) {
    printf("high waits\n");
    CHECK(pthread_mutex_lock(&lock) == 0);
    printf("high has it\n");
    CHECK(pthread_mutex_unlock(&lock) == 0);
    return unused;
}

static pthread_t begin(void *(*run)(void *), int priority) {
    pthread_attr_t attributes;
    pthread_t thread;
    CHECK(pthread_attr_init(&attributes) == 0);
    CHECK(pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED) == 0);
    CHECK(pthread_attr_setschedpolicy(&attributes, SCHED_FIFO) == 0);
    CHECK(pthread_attr_setschedparam(&attributes, &(struct sched_param){.sched_priority = priority}) == 0);
    CHECK(pthread_create(&thread, &attributes, run, NULL) == 0);
    return thread;
}

/* What was set is what is said. */
static void ask(int priority) {
    struct sched_param parameter = {.sched_priority = 100};
    int policy;
    CHECK(pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameter) == EINVAL);
    CHECK(pthread_getschedparam(pthread_self(), &policy, &parameter) == 0);
    CHECK(policy == SCHED_FIFO && parameter.sched_priority == priority);
    CHECK(setpriority(PRIO_PROCESS, 0, 7) == 0 && getpriority(PRIO_PROCESS, 0) == 7);
}

int main(void) {
    CHECK(pthread_setschedparam(pthread_self(), SCHED_FIFO, &(struct sched_param){.sched_priority = 50}) == 0);
    ask(50);
    CHECK(sem_init(&locked, 0, 0) == 0);
    pthread_t threads[3] = {begin(low, 10)};
    CHECK(sem_wait(&locked) == 0);
    threads[1] = begin(middle, 20);
    threads[2] = begin(high, 40);
    printf("main waits\n");
    for (int i = 0; i < 3; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(pthread_setschedprio(pthread_self(), 1) == 0);
    ask(1);
}
