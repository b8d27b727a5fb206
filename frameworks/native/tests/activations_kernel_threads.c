/*
 * Kernel threads of the activations that fail: standbys that do not run or run late, and kernel threads that cannot be
 * made or that die.
 */
#include <dirent.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>

#include "activations_test.h"

/* ---- Standbys that do not run ------------------------------------------------------------------------------------ */

static _Atomic bool frozen;
static _Atomic int most_nap; /* microseconds */

/* On a standby: at any instruction of it, as when the CPU has other work. */
static void freeze(int signal) {
    (void)signal;
    do
        usleep((useconds_t)(1 + most_nap * (now() / 1000 % 1000) / 1000));
    while (frozen);
}

static void start_to_freeze(int processors) {
    struct sigaction action = {.sa_handler = freeze};
    require(sigaction(SIGTRAP, &action, NULL) == 0); /* the only signal that they do not block */
    start(processors);
}

static void freeze_standbys(void) {
    DIR *tasks = opendir("/proc/self/task");
    require(tasks);
    for (struct dirent *task; (task = readdir(tasks));)
        if (task->d_name[0] != '.' && sched_getscheduler(atoi(task->d_name)) == SCHED_IDLE)
            syscall(SYS_tgkill, getpid(), atoi(task->d_name), SIGTRAP);
    closedir(tasks);
}

static void read_when_lost(void *result) {
    struct lwp *self = &sa_lwps[sa_self()->sa_id - 1];
    uint32_t word = self->word;
    lwp_change(self, word, LWP_LOST); /* by a standby that comes no further */
    read_pipe(result);
}

/* What blocks is told all the same, after two rounds of the keeper at most, and what a loaded machine adds. */
static void standby_never_runs(void) {
    enum { ROUNDS = 31 };
    static int64_t took[ROUNDS];
    start_to_freeze(1);
    ssize_t result;
    require(pipe(ends) == 0);
    for (int i = 0; i < ROUNDS; i++) {
        done = begun = false;
        frozen = true;
        freeze_standbys();
        small_create(&threads[0], i % 2 ? read_when_lost : read_pipe, &result);
        int64_t began = now();
        small_yield();
        took[i] = now() - began;
        frozen = false;
        require(begun && !done);
        require(write(ends[1], "x", 1) == 1);
        require(eventually(count(SA_UPCALL_UNBLOCKED) >= i + 1));
        small_join(&threads[0]);
    }
    int slow = 0;
    for (int i = 0; i < ROUNDS; i++)
        slow += took[i] > 200 * MILLISECOND;
    require(slow <= ROUNDS / 2);
}

static _Atomic bool stop_freezing;

static void *freeze_now_and_then(void *unused) {
    while (!stop_freezing) {
        freeze_standbys();
        usleep(500);
    }
    return unused;
}

/* They look at what has long changed. */
static void standbys_are_slow(void) {
    most_nap = 3000;
    pthread_t other;
    start_to_freeze(2);
    require(pthread_create(&other, NULL, freeze_now_and_then, NULL) == 0);
    sleepers();
    stop_freezing = true;
    require(pthread_join(other, NULL) == 0);
}

/* ---- Kernel threads that cannot be made, or die ------------------------------------------------------------------ */

static _Atomic int refuse;
int __real_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument) {
    if (refuse > 0) {
        refuse--;
        return EAGAIN;
    }
    return __real_pthread_create(thread, attributes, body, argument);
}

static void no_thread_at_the_start(void) {
    require(sa_register(small_upcall, NULL, 0, -1) == 0);
    refuse = 1;
    require(sa_enable() == -1 && errno == EAGAIN);
    require(sa_self() == NULL && !sa_runs());
    refuse = 0;
    start(1);
}

static void threads_are_refused(void) {
    start(1);
    refuse = 1000;
    require(pipe(ends) == 0);
    for (int i = 0; i < 20; i++)
        small_create(&threads[i], read_one, NULL);
    static char all[20];
    require(write(ends[1], all, 10) == 10); /* so that those that hold the processor come back */
    int64_t limit = now() + 300 * MILLISECOND;
    while (now() < limit && readers < 10)
        small_yield();
    require(readers == 10);
    refuse = 0;
    require(write(ends[1], all, 10) == 10);
    for (int i = 0; i < 20; i++)
        small_join(&threads[i]);
}

/* A spare whose kernel thread is gone, and whose record does not know. */
static void kill_spares(int most) {
    int left = most;
    for (int i = 0; i < activations.lwps && left > 0; i++) {
        uint32_t word = sa_lwps[i].word;
        if ((word & LWP_STATE) != LWP_SPARE || !lwp_change(&sa_lwps[i], word, LWP_QUITS))
            continue;
        syscall(SYS_futex, &sa_lwps[i].word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
        while (syscall(SYS_tgkill, getpid(), sa_lwps[i].tid, 0) == 0)
            sched_yield();
        sa_lwps[i].word = LWP_SPARE;
        left--;
    }
}

static void spares_die(void) {
    start(1);
    usleep(20000);
    kill_spares(2);
    read_then_write(5);
    kill_spares(1);
    struct timespec t = {0, 2 * MILLISECOND};
    require(nanosleep(&t, NULL) == 0);
    stop = false;
    small_create(&threads[0], spin, (void *)0);
    small_create(&threads[1], spin, (void *)1);
    pthread_t other;
    require(pthread_create(&other, NULL, preempt_often, NULL) == 0);
    kill_spares(1);
    require(eventually(turns[0] > 1000 && turns[1] > 1000));
    stop = true;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        child_test(standby_never_runs),  child_test(standbys_are_slow), child_test(no_thread_at_the_start),
        child_test(threads_are_refused), child_test(spares_die),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
