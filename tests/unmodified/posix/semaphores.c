/* Semaphores: unnamed, named, and between processes. */
#include <fcntl.h>
#include <limits.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clause.h"

static sem_t semaphore;
static atomic_int handled, waits;

static void handle(int signal) { handled += signal == SIGUSR1; }

static void values(void) {
    int value;
    clause("sem_post", "EOVERFLOW beyond SEM_VALUE_MAX; sem_trywait EAGAIN at 0; sem_init EINVAL");
    CHECK(sem_init(&semaphore, 0, (unsigned)SEM_VALUE_MAX + 1) == -1 && errno == EINVAL);
    CHECK(sem_init(&semaphore, 0, SEM_VALUE_MAX) == 0 && sem_post(&semaphore) == -1 && errno == EOVERFLOW);
    CHECK(sem_getvalue(&semaphore, &value) == 0 && value == SEM_VALUE_MAX && sem_wait(&semaphore) == 0);
    CHECK(sem_destroy(&semaphore) == 0 && sem_init(&semaphore, 0, 0) == 0);
    CHECK(sem_trywait(&semaphore) == -1 && errno == EAGAIN && sem_post(&semaphore) == 0);
    CHECK(sem_trywait(&semaphore) == 0 && sem_getvalue(&semaphore, &value) == 0 && value == 0);
}

static void instants(void) {
    const struct timespec past = {.tv_sec = 1}, wrong = {.tv_nsec = -1}, soon = from_now(CLOCK_REALTIME, 0, 10000000);
    clause("sem_timedwait", "ETIMEDOUT once the instant has passed, EINVAL for no time; neither if it is not 0");
    CHECK(sem_timedwait(&semaphore, &past) == -1 && errno == ETIMEDOUT);
    CHECK(sem_timedwait(&semaphore, &wrong) == -1 && errno == EINVAL);
    CHECK(sem_timedwait(&semaphore, &soon) == -1 && errno == ETIMEDOUT);
    CHECK(sem_clockwait(&semaphore, CLOCK_MONOTONIC, &past) == -1 && errno == ETIMEDOUT);
    CHECK(sem_post(&semaphore) == 0 && sem_timedwait(&semaphore, &past) == 0);
}

static void *wait_interrupted(void *timed) {
    const struct timespec far = from_now(CLOCK_REALTIME, 1000, 0);
    waits = 1;
    CHECK((timed ? sem_timedwait(&semaphore, &far) : sem_wait(&semaphore)) == -1 && errno == EINTR);
    waits = 2;
    return NULL;
}

static void interrupted(void) {
    clause("sem_timedwait", "EINTR after a handler; sem_wait likewise");
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handle;
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    for (int timed = 0; timed < 2; timed++) {
        waits = 0;
        pthread_t one = thread(wait_interrupted, timed ? &semaphore : NULL);
        await(&waits, 1);
        while (waits == 1) { /* it may not wait yet */
            CHECK(pthread_kill(one, SIGUSR1) == 0);
            pause_shortly();
        }
        CHECK(result_of(one) == NULL && handled > 0);
    }
}

static void post_in_handler(int signal) { CHECK(signal == SIGUSR2 && sem_post(&semaphore) == 0); }

static void *wait_once(void *unused) {
    while (sem_wait(&semaphore) == -1)
        CHECK(errno == EINTR);
    return unused;
}

static void in_handlers(void) {
    clause("sem_post", "may be called in handlers");
    CHECK(signal(SIGUSR2, post_in_handler) != SIG_ERR);
    for (int i = 0; i < 20; i++) {
        pthread_t one = thread(wait_once, NULL);
        CHECK(raise(SIGUSR2) == 0 && result_of(one) == NULL);
    }
}

static void names(void) {
    char name[64];
    clause("sem_open", "the same name is the same semaphore; EEXIST and ENOENT; it lives on until it is closed");
    snprintf(name, sizeof name, "/clause-%ld", (long)getpid());
    CHECK(sem_open(name, 0) == SEM_FAILED && errno == ENOENT);
    sem_t *one = sem_open(name, O_CREAT | O_EXCL, 0600, 1);
    CHECK(one != SEM_FAILED && sem_open(name, O_CREAT, 0600, 5) == one);
    CHECK(sem_open(name, O_CREAT | O_EXCL, 0600, 1) == SEM_FAILED && errno == EEXIST);
    CHECK(sem_unlink(name) == 0 && sem_unlink(name) == -1 && errno == ENOENT && sem_wait(one) == 0);
    CHECK(sem_close(one) == 0 && sem_close(one) == 0);
}

static void between_processes(void) {
    clause("sem_init", "a shared one works between processes");
    sem_t *both = mmap(NULL, 2 * sizeof *both, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(both != MAP_FAILED && sem_init(&both[0], 1, 0) == 0 && sem_init(&both[1], 1, 0) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    for (int i = 0; i < 20; i++)
        CHECK(child ? sem_post(&both[0]) == 0 && sem_wait(&both[1]) == 0
                    : sem_wait(&both[0]) == 0 && sem_post(&both[1]) == 0);
    if (child == 0)
        _exit(0);
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

int main(void) {
    values();
    instants();
    interrupted();
    in_handlers();
    names();
    between_processes();
}
