/*
 * Activations when there is no spare: all have been taken, and no more kernel threads can be made. Who waits in the
 * kernel then keeps the processor, and is not disturbed; what was to be told is told when there is a spare again.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <time.h>

#include "activations/activation.h"
#include "support/child.h"
#include "support/small_threads.h"

#define MILLISECOND INT64_C(1000000)

static _Atomic bool refuse;
int __real_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument) {
    return refuse ? EAGAIN : __real_pthread_create(thread, attributes, body, argument);
}

static struct lwp *taken[SA_ACTIVATIONS_MOST];
static int taken_count;

/* All but the caller: also those that have just begun, or have still something to do. */
static bool all_are_taken(void) {
    int others = 0;
    for (int i = 0; i < activations.lwps; i++)
        others += &sa_lwps[i] != sa_here() && lwp_state(&sa_lwps[i]) != LWP_NONE;
    return taken_count == others;
}

static void take_all(void) {
    refuse = true;
    sa_hold(); /* nobody takes the processor from the caller, who needs no spare */
    do {
        struct lwp *spare = lwp_take(&sa_processors[0]);
        if (spare)
            taken[taken_count++] = spare;
    } while (!all_are_taken());
    sa_release();
}

static void give_back(void) {
    refuse = false;
    while (taken_count > 0)
        lwp_put_back(&sa_processors[0], taken[--taken_count]);
}

static void rest(int64_t nanoseconds) {
    for (struct timespec left = {0, nanoseconds}; nanosleep(&left, &left) != 0;)
        ;
}

/* What is interrupted between its last instruction and the kernel finds its call broken off still: so not before it
 * has been there for some time. */
static void await_sleep(struct lwp *lwp) {
    uint64_t before = 0;
    for (int same = 0; same < 10;) {
        uint64_t pc = 0, sp;
        bool blocked = watch_blocked(lwp, &pc, &sp);
        same = blocked && pc == before ? same + 1 : 0;
        before = pc;
        rest(MILLISECOND);
    }
}

static int64_t time_of(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static int ends[2];
static _Atomic bool waits;

static void *interrupt_often(void *unused) {
    while (!waits)
        rest(MILLISECOND);
    await_sleep(&sa_lwps[0]);
    int64_t before = time_of(CLOCK_PROCESS_CPUTIME_ID), began = time_of(CLOCK_MONOTONIC);
    rest(200 * MILLISECOND);
    int64_t used = time_of(CLOCK_PROCESS_CPUTIME_ID) - before;
    require(used < (time_of(CLOCK_MONOTONIC) - began) * 6 / 10); /* nobody looks for a spare without pause */
    for (int i = 0; i < 20; i++) {
        require(sa_interrupt(0) == 0);
        rest(MILLISECOND);
    }
    require(write(ends[1], "x", 1) == 1);
    return unused;
}

static void who_waits_is_not_disturbed(void) {
    alarm(HANGS);
    require(pipe(ends) == 0 && small_start(1) == 0);
    pthread_t other;
    require(pthread_create(&other, NULL, interrupt_often, NULL) == 0);
    require(sa_here() == &sa_lwps[0]);
    take_all();
    waits = true;
    require(poll(&(struct pollfd){.fd = ends[0], .events = POLLIN}, 1, -1) == 1); /* a signal would end it */
    require(small.upcalls[SA_UPCALL_USER] == 0 && small.upcalls[SA_UPCALL_BLOCKED] == 0);
    give_back();
    while (small.upcalls[SA_UPCALL_USER] == 0)
        ;
    require(pthread_join(other, NULL) == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {child_test(who_waits_is_not_disturbed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
