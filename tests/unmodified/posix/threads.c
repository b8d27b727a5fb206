/* Threads: attributes, ends, and who waits for them. */
#include <limits.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clause.h"

static atomic_int begun, ended;

static void *give(void *value) { return value; }

static void *stay(void *unused) {
    begun++;
    await(&begun, 100);
    ended++;
    return unused;
}

static void joins(void) {
    void *result;
    clause("pthread_join", "the result of the thread; EDEADLK for itself, EINVAL for a detached one");
    CHECK(result_of(thread(give, &begun)) == &begun && pthread_join(pthread_self(), NULL) == EDEADLK);
    begun = 0;
    pthread_t one = thread(stay, NULL);
    clause("pthread_tryjoin_np", "EBUSY while it runs; timed joins end by ETIMEDOUT");
    const struct timespec past = {.tv_sec = 1}, soon = from_now(CLOCK_REALTIME, 0, 5000000);
    CHECK(pthread_tryjoin_np(one, &result) == EBUSY && pthread_timedjoin_np(one, &result, &past) == ETIMEDOUT);
    CHECK(pthread_timedjoin_np(one, &result, &soon) == ETIMEDOUT);
    CHECK(pthread_clockjoin_np(one, &result, CLOCK_MONOTONIC, &past) == ETIMEDOUT);
    CHECK(pthread_detach(one) == 0 && pthread_detach(one) == EINVAL && pthread_join(one, NULL) == EINVAL);
    ended = 0;
    begun = 100;
    await(&ended, 1);
}

static char memory[1 << 18] __attribute__((aligned(4096)));

static void *on_memory(void *unused) {
    char here;
    CHECK(&here >= memory && &here < memory + sizeof memory);
    pthread_attr_t how;
    void *base;
    size_t size;
    CHECK(pthread_getattr_np(pthread_self(), &how) == 0 && pthread_attr_getstack(&how, &base, &size) == 0);
    CHECK((char *)base >= memory && (char *)base + size <= memory + sizeof memory && pthread_attr_destroy(&how) == 0);
    return unused;
}

static void attributes(void) {
    pthread_attr_t how;
    int state;
    clause("pthread_attr_setstack", "the thread runs on that memory; EINVAL for too little");
    CHECK(pthread_attr_init(&how) == 0 && pthread_attr_setstack(&how, memory, 16) == EINVAL);
    CHECK(pthread_attr_setstack(&how, memory, sizeof memory) == 0);
    for (int i = 0; i < 20; i++) {
        pthread_t one;
        CHECK(pthread_create(&one, &how, on_memory, NULL) == 0 && result_of(one) == NULL);
    }
    CHECK(pthread_attr_destroy(&how) == 0 && pthread_attr_init(&how) == 0);
    clause("pthread_attr_setdetachstate", "such a thread begins detached");
    CHECK(pthread_attr_getdetachstate(&how, &state) == 0 && state == PTHREAD_CREATE_JOINABLE);
    CHECK(pthread_attr_setdetachstate(&how, PTHREAD_CREATE_DETACHED) == 0);
    pthread_t one;
    begun = ended = 0;
    CHECK(pthread_create(&one, &how, stay, NULL) == 0);
    await(&begun, 1);
    CHECK(pthread_join(one, NULL) == EINVAL && pthread_attr_destroy(&how) == 0);
    begun = 100;
    await(&ended, 1);
}

static void *exits_last(void *unused) {
    pause_shortly();
    printf("the last\n");
    return unused;
}

static void main_ends_first(void) {
    clause("pthread_exit", "in main: the process goes on until its last thread ends, with status 0");
    int status;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        for (int i = 0; i < 3; i++)
            thread(exits_last, NULL);
        pthread_exit((void *)17);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void *leave(void *unused) {
    exit(23);
    return unused;
}

static void any_thread_exits(void) {
    clause("exit", "by any thread ends the process with its status");
    int status;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        thread(stay, NULL);
        thread(leave, NULL);
        for (;;)
            pause();
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 23);
}

int main(void) {
    joins();
    attributes();
    main_ends_first();
    any_thread_exits();
}
