/*
 * Semaphores, barriers, and what is done once.
 */
#include <errno.h>

#include "support/program.h"

static catapults_sem_t semaphore = CATAPULTS_SEM_INITIALIZER(2);
static catapults_barrier_t barrier;
static catapults_once_t once = CATAPULTS_ONCE_INIT;
static char order[64];

/* ---- Semaphores -------------------------------------------------------------------------------------------------- */

static void *take(void *name) {
    require(catapults_sem_wait(&semaphore) == 0);
    strcat(order, name);
    return NULL;
}

static void values(void) {
    begin_fifo();
    int value;
    require(catapults_sem_wait(&semaphore) == 0 && catapults_sem_trywait(&semaphore) == 0);
    require(catapults_sem_trywait(&semaphore) == EAGAIN);
    int64_t before = catapults_now();
    require(catapults_sem_wait_until(&semaphore, before + 1000000) == ETIMEDOUT && catapults_now() - before >= 1000000);
    require(catapults_sem_wait_until(&semaphore, 0) == ETIMEDOUT);
    catapults_t a = spawn(take, "a"), b = spawn(take, "b");
    catapults_yield();
    require(catapults_sem_destroy(&semaphore) == EBUSY);
    require(catapults_sem_post(&semaphore) == 0); /* it is a's: the poster cannot take it back */
    require(catapults_sem_trywait(&semaphore) == EAGAIN);
    require(catapults_sem_post(&semaphore) == 0 && catapults_sem_post(&semaphore) == 0);
    require(join(a) == 0 && join(b) == 0 && strcmp(order, "ab") == 0);
    require(catapults_sem_getvalue(&semaphore, &value) == 0 && value == 1);
    require(catapults_sem_destroy(&semaphore) == 0 && catapults_sem_init(&semaphore, UINT32_MAX) == EINVAL);
    require(catapults_sem_init(&semaphore, CATAPULTS_SEM_VALUE_MAX) == 0);
    require(catapults_sem_post(&semaphore) == EOVERFLOW);
}

static int inside, passed;
static void *pass(void *seed_) {
    unsigned seed = (unsigned)(uintptr_t)seed_;
    for (int i = 0; i < 100; i++) {
        int64_t instant = rand_r(&seed) % 2 ? CATAPULTS_FOREVER : catapults_now() + rand_r(&seed) % 50 * 1000;
        if (catapults_sem_wait_until(&semaphore, instant) != 0)
            continue;
        require(++inside <= 2);
        for (int turn = rand_r(&seed) % 4; turn; turn--)
            catapults_yield();
        if (rand_r(&seed) % 10 == 0)
            catapults_sleep(1000);
        inside--;
        passed++;
        require(catapults_sem_post(&semaphore) == 0);
    }
    return NULL;
}

static void many(void) {
    catapults_t threads[30];
    for (uintptr_t i = 0; i < 30; i++)
        threads[i] = spawn(pass, (void *)(i + 1));
    for (int i = 0; i < 30; i++)
        join(threads[i]);
    int value;
    require(passed > 1000 && catapults_sem_getvalue(&semaphore, &value) == 0 && value == 2);
}

static void at_most_two_inside(void) {
    begin_fifo();
    many();
}

static void at_most_two_inside_under_an_eager_policy(void) {
    begin_eagerly();
    many();
}

/* ---- Barriers ---------------------------------------------------------------------------------------------------- */

enum { PARTIES = 5, ROUNDS = 20 };
static int arrived[ROUNDS], serial;

static void *meet(void *argument) {
    for (int round = 0; round < ROUNDS; round++) {
        arrived[round]++;
        int result = catapults_barrier_wait(&barrier);
        require(arrived[round] == PARTIES);
        if (result == CATAPULTS_BARRIER_SERIAL_THREAD)
            serial++;
        else
            require(result == 0);
    }
    return argument;
}

static void meet_all(void) {
    catapults_t threads[PARTIES];
    require(catapults_barrier_init(&barrier, 0) == EINVAL && catapults_barrier_init(&barrier, PARTIES) == 0);
    for (int i = 0; i < PARTIES; i++)
        threads[i] = spawn(meet, NULL);
    for (int i = 0; i < PARTIES; i++)
        join(threads[i]);
    require(serial == ROUNDS && catapults_barrier_destroy(&barrier) == 0);
    require(catapults_barrier_init(&barrier, 1) == 0);
    require(catapults_barrier_wait(&barrier) == CATAPULTS_BARRIER_SERIAL_THREAD);
}

static void all_meet(void) {
    begin_fifo();
    meet_all();
}

static void all_meet_under_an_eager_policy(void) {
    begin_eagerly();
    meet_all();
}

static void *come(void *argument) {
    catapults_barrier_wait(&barrier);
    return argument;
}

static void a_barrier_in_use(void) {
    begin_fifo();
    require(catapults_barrier_init(&barrier, 2) == 0);
    catapults_t other = spawn(come, NULL);
    catapults_yield();
    require(catapults_barrier_destroy(&barrier) == EBUSY);
    require(catapults_barrier_wait(&barrier) == CATAPULTS_BARRIER_SERIAL_THREAD && join(other) == 0);
}

/* ---- Once -------------------------------------------------------------------------------------------------------- */

static int calls;
static bool stuck;
static void prepare(void) {
    calls++;
    if (stuck)
        catapults_sleep_until(CATAPULTS_FOREVER);
    catapults_sleep(1000000);
    strcat(order, "prepared");
}

static void *prepare_once(void *argument) {
    require(catapults_once(&once, prepare) == 0 && strcmp(order, "prepared") == 0);
    return argument;
}

static void only_once(void) {
    begin_fifo();
    catapults_t threads[5];
    for (int i = 0; i < 5; i++)
        threads[i] = spawn(prepare_once, NULL);
    for (int i = 0; i < 5; i++)
        join(threads[i]);
    require(calls == 1 && catapults_once(&once, prepare) == 0 && calls == 1);
}

static void once_more_after_a_cancellation(void) {
    begin_fifo();
    stuck = true;
    catapults_t first = spawn(prepare_once, NULL), second = spawn(prepare_once, NULL);
    catapults_yield();
    require(calls == 1);
    stuck = false;
    require(catapults_cancel(first) == 0 && join(first) == (intptr_t)CATAPULTS_CANCELED);
    require(join(second) == 0 && calls == 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        child_test(values),
        child_test(at_most_two_inside),
        child_test(at_most_two_inside_under_an_eager_policy),
        child_test(all_meet),
        child_test(all_meet_under_an_eager_policy),
        child_test(a_barrier_in_use),
        child_test(only_once),
        child_test(once_more_after_a_cancellation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
