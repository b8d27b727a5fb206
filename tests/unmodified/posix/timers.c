/* Timers, as they tell of their ends. */
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clause.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

static atomic_int ended, value;
static pthread_t where;

static timer_t made(clockid_t clock, struct sigevent *how) {
    timer_t timer;
    CHECK(timer_create(clock, how, &timer) == 0);
    return timer;
}

static void set(timer_t timer, long first, long then) {
    const struct itimerspec times = {.it_value = {first / 1000000000, first % 1000000000},
                                     .it_interval = {then / 1000000000, then % 1000000000}};
    CHECK(timer_settime(timer, 0, &times, NULL) == 0);
}

static void handle(int signal, siginfo_t *info, void *context) {
    CHECK(signal == SIGRTMIN && info->si_code == SI_TIMER && context);
    where = pthread_self();
    value = info->si_value.sival_int;
    ended++;
}

static void install(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = handle;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    CHECK(sigaction(SIGRTMIN, &action, NULL) == 0);
}

static void by_signal(void) {
    clause("timer_create", "SIGEV_SIGNAL: the signal with the value, once, and again by the interval");
    struct sigevent how = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN, .sigev_value.sival_int = 42};
    timer_t timer = made(CLOCK_MONOTONIC, &how);
    set(timer, 1000000, 0);
    await(&ended, 1);
    CHECK(value == 42);
    set(timer, 1000000, 1000000);
    await(&ended, 4);
    clause("timer_settime", "0 disarms it; the instant that has passed ends it at once");
    set(timer, 0, 0);
    struct itimerspec left, absolute = {.it_value = {.tv_sec = 1}};
    CHECK(timer_gettime(timer, &left) == 0 && left.it_value.tv_sec == 0 && left.it_value.tv_nsec == 0);
    int before = ended;
    CHECK(timer_settime(timer, TIMER_ABSTIME, &absolute, NULL) == 0);
    await(&ended, before + 1);
    absolute.it_value.tv_nsec = -1;
    CHECK(timer_settime(timer, 0, &absolute, NULL) == -1 && errno == EINVAL);
    CHECK(timer_delete(timer) == 0);
}

static void none(void) {
    clause("timer_create", "SIGEV_NONE: nothing tells, timer_gettime counts");
    struct sigevent how = {.sigev_notify = SIGEV_NONE};
    struct itimerspec left, before;
    timer_t timer = made(CLOCK_REALTIME, &how);
    set(timer, 1000000000000, 0);
    pause_shortly();
    CHECK(timer_gettime(timer, &left) == 0 && left.it_value.tv_sec <= 999 && left.it_value.tv_sec > 100);
    const struct itimerspec off = {0};
    CHECK(timer_settime(timer, 0, &off, &before) == 0 && before.it_value.tv_sec <= 999 && timer_delete(timer) == 0);
}

static void overruns(void) {
    clause("timer_getoverrun", "counts the ends that are not told while one is still pending");
    sigset_t set_of, before;
    siginfo_t info;
    sigemptyset(&set_of);
    sigaddset(&set_of, SIGRTMIN);
    CHECK(pthread_sigmask(SIG_BLOCK, &set_of, &before) == 0);
    struct sigevent how = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN};
    timer_t timer = made(CLOCK_MONOTONIC, &how);
    set(timer, 1000000, 1000000);
    const struct timespec long_enough = from_now(CLOCK_MONOTONIC, 0, 30000000);
    CHECK(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &long_enough, NULL) == 0);
    CHECK(sigwaitinfo(&set_of, &info) == SIGRTMIN && info.si_code == SI_TIMER && timer_getoverrun(timer) >= 20);
    CHECK(timer_delete(timer) == 0);
    while (sigtimedwait(&set_of, NULL, &(struct timespec){0}) > 0)
        ;
    CHECK(pthread_sigmask(SIG_SETMASK, &before, NULL) == 0);
}

/* ---- To a thread ------------------------------------------------------------------------------------------------- */

static atomic_int target;

static void *be_told(void *unused) {
    target = (int)syscall(SYS_gettid);
    await(&ended, 3);
    return unused;
}

static void by_signal_to_a_thread(void) {
    clause("timer_create", "SIGEV_THREAD_ID: the signal comes to that thread");
    ended = target = 0;
    pthread_t one = thread(be_told, NULL);
    await(&target, 1);
    struct sigevent how = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMIN, .sigev_value.sival_int = 5};
    how.sigev_notify_thread_id = target;
    timer_t timer = made(CLOCK_MONOTONIC, &how);
    for (int i = 1; i <= 3; i++) {
        set(timer, 1000000, 0);
        await(&ended, i);
        CHECK(pthread_equal(where, one) && value == 5);
    }
    CHECK(result_of(one) == NULL && timer_delete(timer) == 0);
    clause("timer_create", "EINVAL for a thread that is no longer there");
    timer_t unused;
    CHECK(timer_create(CLOCK_MONOTONIC, &how, &unused) == -1 && errno == EINVAL);
    how.sigev_notify_thread_id = (int)syscall(SYS_gettid);
    timer = made(CLOCK_REALTIME, &how);
    set(timer, 1000000, 1000000);
    await(&ended, 10);
    CHECK(pthread_equal(where, pthread_self()) && timer_delete(timer) == 0);
}

static void told(union sigval what) {
    where = pthread_self();
    value = what.sival_int;
    ended++;
}

static void by_a_thread(void) {
    clause("timer_create", "SIGEV_THREAD: the function runs in another thread, with the value, each time");
    struct sigevent how = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = told, .sigev_value.sival_int = 9};
    ended = 0;
    timer_t once = made(CLOCK_MONOTONIC, &how);
    set(once, 1000000, 0);
    await(&ended, 1);
    CHECK(value == 9 && !pthread_equal(where, pthread_self()));
    how.sigev_value.sival_int = 10;
    timer_t again = made(CLOCK_REALTIME, &how);
    set(again, 1000000, 2000000);
    await(&ended, 5);
    CHECK(value == 10 && timer_delete(again) == 0);
    set(once, 1000000, 0);
    await(&ended, 6);
    CHECK(timer_delete(once) == 0);
}

int main(void) {
    install();
    by_signal();
    none();
    overruns();
    by_signal_to_a_thread();
    by_a_thread();
}
