/* fork in programs with threads. */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clause.h"

static char order[16];
static atomic_int begun;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

#define NOTE(name, letter)                                                                                             \
    static void name(void) { order[strlen(order)] = letter; }
NOTE(prepare_first, 'a')
NOTE(prepare_second, 'b')
NOTE(parent_first, 'c')
NOTE(parent_second, 'd')
NOTE(child_first, 'e')
NOTE(child_second, 'f')

static int status_of(pid_t child) {
    int status;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void *fork_here(void *unused) {
    memset(order, 0, sizeof order);
    pid_t child = fork();
    if (child == 0)
        _exit(strcmp(order, "baef") == 0 ? 5 : 6);
    CHECK(strcmp(order, "bacd") == 0 && status_of(child) == 5);
    return unused;
}

static void handlers(void) {
    clause("pthread_atfork", "prepare in reverse order; parent and child in order; in the thread that forks");
    CHECK(pthread_atfork(prepare_first, parent_first, child_first) == 0);
    CHECK(pthread_atfork(prepare_second, parent_second, child_second) == 0);
    fork_here(NULL);
    CHECK(result_of(thread(fork_here, NULL)) == NULL);
}

static void *stay(void *unused) {
    CHECK(pthread_mutex_lock(&mutex) == 0);
    begun = 1;
    await(&begun, 2);
    CHECK(pthread_mutex_unlock(&mutex) == 0);
    return unused;
}

static void *add(void *sum) {
    atomic_fetch_add((atomic_int *)sum, 1);
    return NULL;
}

static void only_the_caller(void) {
    clause("fork", "the child has the caller alone, which can make threads; locks are as they were");
    pthread_t one = thread(stay, NULL);
    await(&begun, 1);
    for (int i = 0; i < 5; i++) {
        pid_t child = fork();
        if (child == 0) {
            static atomic_int sum;
            CHECK(pthread_mutex_trylock(&mutex) == EBUSY);
            pthread_t all[4];
            for (int j = 0; j < 4; j++)
                all[j] = thread(add, &sum);
            for (int j = 0; j < 4; j++)
                CHECK(result_of(all[j]) == NULL);
            _exit(sum);
        }
        CHECK(status_of(child) == 4);
    }
    begun = 2;
    CHECK(result_of(one) == NULL);
}

static void *wait_for_child(void *unused) {
    pid_t child = fork();
    if (child == 0) {
        pause_shortly();
        _exit(9);
    }
    CHECK(status_of(child) == 9);
    return unused;
}

static atomic_int children;

static void count(int signal) { children += signal == SIGCHLD; }

static void several_wait(void) {
    clause("waitpid", "threads wait for children of their own; SIGCHLD comes");
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = count;
    action.sa_flags = SA_RESTART;
    CHECK(sigaction(SIGCHLD, &action, NULL) == 0);
    in_threads(5, wait_for_child);
    CHECK(children > 0);
}

static void *alarmed(void *unused) {
    begun = 3;
    await(&begun, 4);
    return unused;
}

static void on_alarm(int signal) {
    CHECK(signal == SIGALRM);
    begun = 4;
}

static void alarms(void) {
    clause("alarm", "SIGALRM comes to the process while its threads wait; a child has no alarm");
    CHECK(signal(SIGALRM, on_alarm) != SIG_ERR);
    pthread_t one = thread(alarmed, NULL);
    await(&begun, 3);
    ualarm(5000, 0);
    CHECK(result_of(one) == NULL);
    alarm(1000);
    pid_t child = fork();
    if (child == 0)
        _exit((int)alarm(0));
    CHECK(status_of(child) == 0 && alarm(0) > 900);
}

int main(void) {
    handlers();
    only_the_caller();
    several_wait();
    alarms();
}
