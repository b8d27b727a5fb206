/* Cancelability: states, types, points, and what runs at the end. */
#include <semaphore.h>
#include <string.h>
#include <unistd.h>

#include "clause.h"

static atomic_int begun, order[8], orders;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static sem_t nothing;
static int ends[2];

static void note(void *what) { order[atomic_fetch_add(&orders, 1)] = (int)(long)what; }

static void *disabled(void *unused) {
    int before;
    CHECK(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before) == 0 && before == PTHREAD_CANCEL_ENABLE);
    begun = 1;
    await(&begun, 2);
    pthread_testcancel();
    CHECK(read(ends[0], &(char){0}, 1) == 1); /* a point, which is none now */
    note((void *)1);
    CHECK(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &before) == 0 && before == PTHREAD_CANCEL_DISABLE);
    pthread_testcancel();
    note((void *)2);
    return unused;
}

static void held_while_disabled(void) {
    clause("pthread_setcancelstate", "a request is held while the state is DISABLE");
    orders = 0;
    begun = 0;
    pthread_t one = thread(disabled, NULL);
    await(&begun, 1);
    CHECK(pthread_cancel(one) == 0);
    begun = 2;
    CHECK(write(ends[1], "x", 1) == 1);
    CHECK(result_of(one) == PTHREAD_CANCELED);
    CHECK(orders == 1 && order[0] == 1);
}

static void *spin(void *unused) {
    CHECK(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL) == 0);
    begun = 1;
    for (;;)
        sched_yield(); /* some policies run it until it does */
    return unused;
}

static void at_once(void) {
    clause("pthread_setcanceltype", "ASYNCHRONOUS: at any time, without a point");
    begun = 0;
    pthread_t one = thread(spin, NULL);
    await(&begun, 1);
    CHECK(pthread_cancel(one) == 0 && result_of(one) == PTHREAD_CANCELED);
}

static void *deferred(void *unused) {
    int type;
    CHECK(pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type) == 0 && type == PTHREAD_CANCEL_DEFERRED);
    begun = 1;
    await(&begun, 1);
    CHECK(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL) == 0);
    await(&begun, 2);
    CHECK(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL) == 0);
    CHECK(pthread_mutex_lock(&mutex) == 0 && pthread_mutex_unlock(&mutex) == 0);
    note((void *)3);
    pthread_testcancel();
    return unused;
}

static void only_at_points(void) {
    clause("pthread_mutex_lock", "is no cancellation point; pthread_testcancel is");
    orders = 0;
    begun = 0;
    pthread_t one = thread(deferred, NULL);
    await(&begun, 1);
    pause_shortly();
    CHECK(pthread_cancel(one) == 0 || orders == 0);
    begun = 2;
    void *result = result_of(one);
    CHECK(result == PTHREAD_CANCELED);
}

/* ---- Points ------------------------------------------------------------------------------------------------------ */

static void unlock(void *owned) {
    note((void *)4);
    CHECK(pthread_mutex_unlock(owned) == 0); /* it has the mutex again */
}

static void *wait_at(void *point) {
    static pthread_mutex_t checked = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
    const struct timespec far = from_now(CLOCK_REALTIME, 1000, 0);
    begun = 1;
    switch ((long)point) {
    case 0:
        sem_wait(&nothing);
        break;
    case 1:
        sem_timedwait(&nothing, &far);
        break;
    case 2:
        CHECK(read(ends[0], &(char){0}, 1) == 1);
        break;
    case 3:
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &(struct timespec){.tv_sec = 1000000000}, NULL);
        break;
    case 4:
        pause();
        break;
    case 5:
        pthread_mutex_lock(&checked);
        pthread_cleanup_push(unlock, &checked);
        for (;;)
            pthread_cond_timedwait(&never, &checked, &far);
        pthread_cleanup_pop(0);
        break;
    default:
        pthread_join(*(pthread_t *)point, NULL);
    }
    CHECK(!"reached");
    return NULL;
}

static void points(void) {
    clause("pthread_cancel", "ends waits at points, whether it comes before or in the middle");
    for (long point = 0; point < 6; point++)
        for (int early = 0; early < 2; early++) {
            begun = 0;
            pthread_t one = thread(wait_at, (void *)point);
            if (!early) {
                await(&begun, 1);
                pause_shortly();
            }
            CHECK(pthread_cancel(one) == 0 && result_of(one) == PTHREAD_CANCELED);
        }
    clause("pthread_join", "is a point, and the other can still be joined");
    begun = 0;
    pthread_t other = thread(wait_at, (void *)4L);
    static pthread_t target;
    target = other;
    pthread_t one = thread(wait_at, &target);
    await(&begun, 1);
    CHECK(pthread_cancel(one) == 0 && result_of(one) == PTHREAD_CANCELED);
    CHECK(pthread_cancel(other) == 0 && result_of(other) == PTHREAD_CANCELED);
}

/* ---- The end ----------------------------------------------------------------------------------------------------- */

static pthread_key_t key;

static void *handlers(void *how) {
    CHECK(pthread_setspecific(key, (void *)7) == 0);
    pthread_cleanup_push(note, (void *)1);
    pthread_cleanup_push(note, (void *)2);
    pthread_cleanup_push(note, (void *)3);
    pthread_cleanup_pop(0);
    pthread_cleanup_push(note, (void *)5);
    pthread_cleanup_pop(1);
    if (how)
        pthread_exit(how);
    begun = 1;
    pause();
    pthread_cleanup_pop(0);
    pthread_cleanup_pop(0);
    return NULL;
}

static void the_end(void) {
    clause("pthread_cleanup_push", "handlers run last first, then destructors of keys; also by pthread_exit");
    CHECK(pthread_key_create(&key, note) == 0);
    for (long how = 0; how < 2; how++) {
        orders = 0;
        begun = 0;
        pthread_t one = thread(handlers, (void *)how);
        if (!how) {
            await(&begun, 1);
            CHECK(pthread_cancel(one) == 0);
        }
        CHECK(result_of(one) == (how ? (void *)how : PTHREAD_CANCELED));
        CHECK(orders == 4 && order[0] == 5 && order[1] == 2 && order[2] == 1 && order[3] == 7);
    }
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_int tries;

static void initialize(void) {
    if (atomic_fetch_add(&tries, 1) == 0) {
        begun = 1;
        pause();
    }
}

static void *use(void *unused) {
    CHECK(pthread_once(&once, initialize) == 0);
    return unused;
}

static void once_again(void) {
    clause("pthread_once", "after the routine was cancelled it was never called, and who waits calls it");
    begun = 0;
    pthread_t one = thread(use, NULL);
    await(&begun, 1);
    pthread_t other = thread(use, NULL);
    pause_shortly();
    CHECK(pthread_cancel(one) == 0 && result_of(one) == PTHREAD_CANCELED && result_of(other) == NULL);
    use(NULL);
    CHECK(tries == 2);
}

int main(void) {
    CHECK(pipe(ends) == 0 && sem_init(&nothing, 0, 0) == 0);
    held_while_disabled();
    at_once();
    only_at_points();
    points();
    the_end();
    once_again();
}
