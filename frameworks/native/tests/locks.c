/*
 * Mutexes and conditions.
 */
#include <errno.h>
#include <time.h>

#include "support/program.h"

static catapults_mutex_t mutex = CATAPULTS_MUTEX_INITIALIZER;
static catapults_cond_t cond = CATAPULTS_COND_INITIALIZER;
static char order[256];

static void join_all(catapults_t *threads, int count) {
    for (int i = 0; i < count; i++)
        require(catapults_join(threads[i], NULL) == 0);
}

/* ---- Mutexes ----------------------------------------------------------------------------------------------------- */

static void *lock_and_note(void *name) {
    require(catapults_mutex_lock(&mutex) == 0);
    strcat(order, name);
    catapults_yield();
    require(catapults_mutex_unlock(&mutex) == 0);
    return NULL;
}

static void waiters_are_served_in_order(void) {
    begin_fifo();
    require(catapults_mutex_lock(&mutex) == 0);
    catapults_t threads[] = {spawn_called(lock_and_note, "a"), spawn_called(lock_and_note, "b"),
                             spawn_called(lock_and_note, "c")};
    catapults_yield();
    require(order[0] == '\0');
    require(catapults_mutex_unlock(&mutex) == 0);
    join_all(threads, 3);
    require(strcmp(order, "abc") == 0);
}

/* Each has tried to lend its turns meanwhile. Who sleeps is READY again before all of them have come. */
static void waiters_of_a_sleeper_are_served_in_order(void) {
    begin_fifo();
    require(catapults_mutex_lock(&mutex) == 0);
    catapults_t threads[] = {spawn_called(lock_and_note, "a"), spawn_called(lock_and_note, "b"),
                             spawn_called(lock_and_note, "c"), spawn_called(lock_and_note, "d")};
    for (bool all = false; !all; all = mutex.waiters.last == threads[3])
        catapults_sleep(1000);
    require(order[0] == '\0');
    require(catapults_mutex_unlock(&mutex) == 0);
    join_all(threads, 4);
    require(strcmp(order, "abcd") == 0);
}

static void misuse_is_an_error(void) {
    begin_fifo();
    require(catapults_mutex_unlock(&mutex) == EPERM);
    require(catapults_mutex_trylock(&mutex) == 0);
    require(catapults_mutex_lock(&mutex) == EDEADLK && catapults_mutex_trylock(&mutex) == EBUSY);
    catapults_t other = spawn_called(lock_and_note, "a");
    require(catapults_mutex_unlock(&mutex) == 0);
    catapults_yield();
    require(catapults_mutex_unlock(&mutex) == EPERM && catapults_mutex_trylock(&mutex) == EBUSY);
    require(catapults_cond_wait(&cond, &mutex) == EPERM);
    join_all(&other, 1);
}

static int locked;

/* Never yields while it does not hold the mutex. */
static void *hog(void *argument) {
    for (int i = 0; i < 1000; i++) {
        require(catapults_mutex_lock(&mutex) == 0);
        locked++;
        if (i % 10 == 0) {
            catapults_yield(); /* who waits now lends the turn that it has */
            catapults_yield(); /* that ends */
        }
        require(catapults_mutex_unlock(&mutex) == 0);
    }
    return argument;
}

static int locked_when_served;
static void *lock_once(void *argument) {
    require(catapults_mutex_lock(&mutex) == 0);
    locked_when_served = locked;
    require(catapults_mutex_unlock(&mutex) == 0);
    return argument;
}

/* A thread that keeps locking is not stopped at each unlock (no convoy), yet passes a waiter over once only. */
static void a_hog_neither_convoys_nor_starves(void) {
    begin_fifo();
    catapults_t threads[] = {spawn_called(hog, "hog"), spawn_called(lock_once, "one")};
    catapults_yield(); /* the hog holds it, the other waits */
    require(locked == 1);
    catapults_yield(); /* the hog unlocks and locks once more; then it is handed over, and the hog waits for a moment */
    require(locked == 11 && locked_when_served == 2);
    join_all(threads, 2);
    require(locked == 1000);
}

static int inside, entered;
static void *count_inside(void *argument) {
    unsigned seed = (unsigned)(uintptr_t)argument;
    for (int i = 0; i < 200; i++) {
        require(catapults_mutex_lock(&mutex) == 0);
        require(inside++ == 0);
        for (int turns = rand_r(&seed) % 4; turns; turns--)
            catapults_yield();
        if (rand_r(&seed) % 20 == 0)
            catapults_sleep(1000);
        inside--;
        entered++;
        require(catapults_mutex_unlock(&mutex) == 0);
        for (int turns = rand_r(&seed) % 3; turns; turns--)
            catapults_yield();
    }
    return NULL;
}

static void one_at_a_time(void) {
    begin_fifo();
    catapults_t threads[50];
    for (uintptr_t i = 0; i < 50; i++)
        require(catapults_create(&threads[i], NULL, count_inside, (void *)i) == 0);
    join_all(threads, 50);
    require(entered == 10000 && mutex.state == 0 && mutex.waiters.first == NULL);
}

/* ---- Conditions -------------------------------------------------------------------------------------------------- */

static void *wait_and_note(void *name) {
    require(catapults_mutex_lock(&mutex) == 0);
    require(catapults_cond_wait(&cond, &mutex) == 0);
    require(catapults_mutex_lock(&mutex) == EDEADLK);
    strcat(order, name);
    require(catapults_mutex_unlock(&mutex) == 0);
    return NULL;
}

static void signals_wake_in_order(void) {
    begin_fifo();
    catapults_t threads[] = {spawn_called(wait_and_note, "a"), spawn_called(wait_and_note, "b"),
                             spawn_called(wait_and_note, "c"), spawn_called(wait_and_note, "d")};
    require(catapults_cond_signal(&cond) == 0); /* nobody is there yet */
    catapults_yield();
    catapults_yield();
    require(order[0] == '\0');
    require(catapults_cond_signal(&cond) == 0);
    catapults_yield();
    catapults_yield();
    require(strcmp(order, "a") == 0);
    require(catapults_cond_broadcast(&cond) == 0);
    join_all(threads, 4);
    require(strcmp(order, "abcd") == 0);
}

static void timeouts(void) {
    begin_fifo();
    require(catapults_mutex_lock(&mutex) == 0);
    int64_t before = catapults_now();
    require(catapults_cond_wait_until(&cond, &mutex, before + 2000000) == ETIMEDOUT);
    require(catapults_now() - before >= 2000000 && catapults_mutex_lock(&mutex) == EDEADLK);
    require(catapults_cond_wait_until(&cond, &mutex, 0) == ETIMEDOUT && cond.waiters.first == NULL);
    require(catapults_mutex_unlock(&mutex) == 0);
}

static int outcome[2];
static void *wait_with_timeout(void *argument) {
    require(catapults_mutex_lock(&mutex) == 0);
    outcome[*(char *)argument - 'a'] = catapults_cond_wait_until(&cond, &mutex, catapults_now() + 1000000);
    require(catapults_mutex_unlock(&mutex) == 0);
    return NULL;
}

/* The instant of both has come, neither has run since: a signal must be lost on neither account. */
static void a_signal_and_a_timeout_meet(void) {
    begin_fifo();
    catapults_t threads[] = {spawn_called(wait_with_timeout, "a"), spawn_called(wait_with_timeout, "b")};
    catapults_yield();
    struct timespec long_enough = {.tv_nsec = 5000000};
    nanosleep(&long_enough, NULL);
    require(catapults_cond_signal(&cond) == 0);
    join_all(threads, 2);
    require(outcome[0] == 0 && outcome[1] == ETIMEDOUT);
    require(cond.waiters.first == NULL);
}

static int produced, consumed;
static catapults_cond_t room = CATAPULTS_COND_INITIALIZER;
enum { ITEMS = 5000, CAPACITY = 3 };

static void *produce(void *argument) {
    for (int i = 0; i < ITEMS; i++) {
        catapults_mutex_lock(&mutex);
        while (produced - consumed == CAPACITY)
            catapults_cond_wait(&room, &mutex);
        produced++;
        catapults_cond_signal(&cond);
        catapults_mutex_unlock(&mutex);
    }
    return argument;
}

static void *consume(void *argument) {
    for (int i = 0; i < ITEMS; i++) {
        catapults_mutex_lock(&mutex);
        while (produced == consumed)
            require(catapults_cond_wait_until(&cond, &mutex, catapults_now() + 60000000000) == 0);
        consumed++;
        require(produced - consumed >= 0 && produced - consumed <= CAPACITY);
        catapults_cond_signal(&room);
        catapults_mutex_unlock(&mutex);
    }
    return argument;
}

static void producers_and_consumers(void) {
    begin_fifo();
    catapults_t threads[6];
    for (int i = 0; i < 6; i++)
        threads[i] = spawn_called(i % 2 ? produce : consume, NULL);
    join_all(threads, 6);
    require(produced == 3 * ITEMS && consumed == produced);
}

static int woken;

static void *wait_for_ever_anew(void *argument) {
    require(catapults_mutex_lock(&mutex) == 0);
    for (;;) {
        require(catapults_cond_wait(&cond, &mutex) == 0);
        woken++;
        require(catapults_cond_signal(&cond) == 0);
    }
    return argument;
}

static void *wait_and_signal(void *last_destroys) {
    require(catapults_mutex_lock(&mutex) == 0);
    require(catapults_cond_wait(&cond, &mutex) == 0);
    if (++woken < 2)
        require(catapults_cond_signal(&cond) == 0);
    require(catapults_mutex_unlock(&mutex) == 0);
    if (last_destroys && woken == 2)
        memset(&cond, -1, sizeof cond);
    return NULL;
}

/* Under a policy by which a thread that is woken runs at once. */
static void broadcast(void *(*first)(void *), void *last_destroys) {
    require(catapults_init(&(struct catapults_options){.policy = POLICIES "/eager.so"}) == 0);
    alarm(HANGS);
    struct catapults_attributes detached = {.detached = true};
    require(catapults_create(NULL, &detached, first, last_destroys) == 0);
    require(catapults_create(NULL, &detached, wait_and_signal, last_destroys) == 0);
    require(catapults_cond_broadcast(&cond) == 0);
    require(woken == 2);
}

static void a_broadcast_does_not_wake_who_waits_again(void) { broadcast(wait_for_ever_anew, NULL); }

static void a_condition_may_end_with_its_last_waiter(void) { broadcast(wait_and_signal, "so"); }

static void *lock_forever(void *argument) {
    catapults_mutex_lock(&mutex);
    return argument;
}

static void abandon(void) {
    begin_fifo();
    require(catapults_mutex_init(&mutex, &(struct catapults_mutex_attributes){.type = CATAPULTS_MUTEX_NORMAL}) == 0);
    catapults_mutex_lock(&mutex);
    catapults_join(spawn_called(lock_forever, "locker"), NULL);
}

static void a_deadlock_names_the_owner(void **state) {
    (void)state;
    struct child child = run_child(abandon);
    assert_exit(&child, EXIT_FAILURE);
    assert_reported(&child,
                    "catapults: deadlock: thread 2 (locker) waits for a mutex of thread 1 (main); thread 1 (main) "
                    "waits for the end of thread 2 (locker)\n");
    assert_reported(&child, "thread 2 (locker) waits for a mutex of thread 1 (main)\n");
    assert_reported(&child, "thread 1 (main) waits for the end of thread 2 (locker)\n");
    assert_reported(&child,
                    "ring: thread 1 (main) waits for the end of thread 2 (locker); thread 2 (locker) waits for a "
                    "mutex of thread 1 (main)\n");
}

/* Each of many has one and waits for the next. */
enum { MANY = 30 };
static catapults_mutex_t ring[MANY];

static void *lock_two(void *which) {
    int i = (int)(intptr_t)which;
    catapults_mutex_lock(&ring[i]);
    catapults_yield();
    catapults_mutex_lock(&ring[(i + 1) % MANY]);
    return which;
}

static void wait_in_a_ring(void) {
    begin_fifo();
    catapults_t threads[MANY];
    for (intptr_t i = 0; i < MANY; i++) {
        require(catapults_mutex_init(&ring[i], &(struct catapults_mutex_attributes){.type = CATAPULTS_MUTEX_NORMAL}) ==
                0);
        threads[i] = spawn(lock_two, (void *)i);
    }
    static catapults_sem_t semaphore;
    catapults_sem_wait(&semaphore);
    catapults_join(threads[0], NULL);
}

static void a_long_ring_is_told_in_part(void **state) {
    (void)state;
    struct child child = run_child(wait_in_a_ring);
    assert_exit(&child, EXIT_FAILURE);
    assert_reported(&child, "catapults: deadlock: thread 31 () waits for a mutex of thread 2 (); thread 2 () waits ");
    assert_reported(&child, "ring: thread 2 () waits for a mutex of thread 3 (); thread 3 () waits ");
    assert_reported(&child, "thread 13 () waits for a mutex of thread 14 (); and 18 more threads in turn\n");
    assert_reported(&child, "thread 1 (main) waits for a condition, a semaphore, ");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        child_test(waiters_are_served_in_order),
        child_test(waiters_of_a_sleeper_are_served_in_order),
        child_test(misuse_is_an_error),
        child_test(a_hog_neither_convoys_nor_starves),
        child_test(one_at_a_time),
        child_test(signals_wake_in_order),
        child_test(a_broadcast_does_not_wake_who_waits_again),
        child_test(a_condition_may_end_with_its_last_waiter),
        child_test(timeouts),
        child_test(a_signal_and_a_timeout_meet),
        child_test(producers_and_consumers),
        cmocka_unit_test(a_deadlock_names_the_owner),
        cmocka_unit_test(a_long_ring_is_told_in_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
