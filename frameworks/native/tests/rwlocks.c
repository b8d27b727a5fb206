/*
 * Read-write locks.
 */
#include <errno.h>
#include <stdatomic.h>

#include "support/program.h"

static catapults_rwlock_t lock = CATAPULTS_RWLOCK_INITIALIZER;
static char order[64];

static void *read_it(void *name) {
    require(catapults_rwlock_rdlock(&lock) == 0);
    strcat(order, name);
    catapults_yield();
    require(catapults_rwlock_unlock(&lock) == 0);
    return NULL;
}

static void *write_it(void *name) {
    require(catapults_rwlock_wrlock(&lock) == 0);
    strcat(order, name);
    catapults_yield();
    require(catapults_rwlock_unlock(&lock) == 0);
    return NULL;
}

static void writers_first_and_readers_in_between(void) {
    begin_fifo();
    require(catapults_rwlock_rdlock(&lock) == 0);
    catapults_t threads[] = {spawn_called(read_it, "a"),  spawn_called(write_it, "W"), spawn_called(read_it, "b"),
                             spawn_called(write_it, "V"), spawn_called(read_it, "c"),  spawn_called(write_it, "U")};
    catapults_yield();
    require(strcmp(order, "a") == 0); /* reads with the first thread; b comes after a writer */
    require(catapults_rwlock_unlock(&lock) == 0);
    for (int i = 0; i < 6; i++)
        join(threads[i]);
    require(strcmp(order, "aWbcVU") == 0);
    require(!lock.writer && !lock.readers && catapults_rwlock_destroy(&lock) == 0);
}

static void *try_both(void *argument) {
    int reads = catapults_rwlock_tryrdlock(&lock);
    if (reads == 0)
        require(catapults_rwlock_unlock(&lock) == 0);
    int writes = catapults_rwlock_trywrlock(&lock);
    if (writes == 0)
        require(catapults_rwlock_unlock(&lock) == 0);
    (void)argument;
    return (void *)(intptr_t)((reads ? 1 : 0) + (writes ? 2 : 0));
}

static void tries(void) {
    begin_fifo();
    require(catapults_rwlock_init(&lock) == 0 && join(spawn_called(try_both, NULL)) == 0);
    require(catapults_rwlock_unlock(&lock) == EPERM);
    require(catapults_rwlock_rdlock(&lock) == 0 && catapults_rwlock_destroy(&lock) == EBUSY);
    require(join(spawn_called(try_both, NULL)) == 2);
    catapults_t writer = spawn_called(write_it, "w");
    catapults_yield();
    require(join(spawn_called(try_both, NULL)) == 3); /* a writer waits */
    require(catapults_rwlock_unlock(&lock) == 0 && join(writer) == 0);
    require(catapults_rwlock_wrlock(&lock) == 0 && join(spawn_called(try_both, NULL)) == 3);
    require(catapults_rwlock_wrlock(&lock) == EDEADLK && catapults_rwlock_rdlock(&lock) == EDEADLK);
    require(catapults_rwlock_destroy(&lock) == EBUSY && catapults_rwlock_unlock(&lock) == 0);
}

static void *unlock_it(void *argument) {
    (void)argument;
    return (void *)(intptr_t)catapults_rwlock_unlock(&lock);
}

static void *read_in_time(void *milliseconds) {
    int64_t instant = catapults_now() + (intptr_t)milliseconds * 1000000;
    int result = catapults_rwlock_rdlock_until(&lock, instant);
    if (result == 0)
        require(catapults_rwlock_unlock(&lock) == 0);
    return (void *)(intptr_t)result;
}

static void *write_in_time(void *milliseconds) {
    int64_t instant = catapults_now() + (intptr_t)milliseconds * 1000000;
    return (void *)(intptr_t)catapults_rwlock_wrlock_until(&lock, instant);
}

static catapults_t spawn_until(void *(*start)(void *), intptr_t milliseconds) {
    catapults_t thread;
    require(catapults_create(&thread, NULL, start, (void *)milliseconds) == 0);
    return thread;
}

static void in_time(void) {
    begin_fifo();
    require(catapults_rwlock_wrlock(&lock) == 0 && join(spawn_called(unlock_it, NULL)) == EPERM);
    require(join(spawn_until(read_in_time, 1)) == ETIMEDOUT && join(spawn_until(write_in_time, 1)) == ETIMEDOUT);
    require(!lock.waiting_readers.first && !lock.waiting_writers.first);
    require(catapults_rwlock_unlock(&lock) == 0 && catapults_rwlock_rdlock(&lock) == 0);
    /* A reader waits because a writer does; that gives up. */
    catapults_t writer = spawn_until(write_in_time, 1);
    catapults_yield();
    catapults_t reader = spawn_until(read_in_time, 60000);
    require(join(writer) == ETIMEDOUT && join(reader) == 0 && lock.readers == 1);
}

static atomic_int readers, writers, turns;
static void *mix(void *seed_) {
    unsigned seed = (unsigned)(uintptr_t)seed_;
    for (int i = 0; i < 100; i++) {
        bool writes = rand_r(&seed) % 3 == 0;
        int64_t instant = rand_r(&seed) % 3 ? CATAPULTS_FOREVER : catapults_now() + rand_r(&seed) % 50 * 1000;
        if ((writes ? catapults_rwlock_wrlock_until : catapults_rwlock_rdlock_until)(&lock, instant) != 0)
            continue;
        atomic_fetch_add(writes ? &writers : &readers, 1); /* readers are preempted, too */
        require(writers == 0 || (writers == 1 && readers == 0));
        for (int turn = rand_r(&seed) % 4; turn; turn--)
            catapults_yield();
        if (rand_r(&seed) % 10 == 0)
            catapults_sleep(1000);
        atomic_fetch_sub(writes ? &writers : &readers, 1);
        turns++;
        require(catapults_rwlock_unlock(&lock) == 0);
    }
    return NULL;
}

static void many(void) {
    catapults_t threads[30];
    for (uintptr_t i = 0; i < 30; i++)
        require(catapults_create(&threads[i], NULL, mix, (void *)(i + 1)) == 0);
    for (int i = 0; i < 30; i++)
        join(threads[i]);
    require(turns > 1500 && !lock.writer && !lock.readers);
    require(!lock.waiting_readers.first && !lock.waiting_writers.first);
}

static void readers_or_one_writer(void) {
    begin_fifo();
    many();
}

static void readers_or_one_writer_under_an_eager_policy(void) {
    require(catapults_init(&(struct catapults_options){.policy = POLICIES "/eager.so"}) == 0);
    many();
}

static void wait_for_oneself(void) {
    begin_fifo();
    catapults_rwlock_rdlock(&lock);
    catapults_rwlock_wrlock(&lock);
}

static void a_deadlock_says_what_for(void **state) {
    (void)state;
    struct child child = run_child(wait_for_oneself);
    assert_exit(&child, EXIT_FAILURE);
    assert_reported(&child, "thread 1 (main) waits for a read-write lock\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        child_test(writers_first_and_readers_in_between),
        child_test(tries),
        child_test(in_time),
        child_test(readers_or_one_writer),
        child_test(readers_or_one_writer_under_an_eager_policy),
        cmocka_unit_test(a_deadlock_says_what_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
