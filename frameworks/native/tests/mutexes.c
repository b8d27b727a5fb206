/*
 * The kinds of mutexes: types, robust ones, ceilings; and locking in time.
 */
#include <errno.h>

#include "support/program.h"

static catapults_mutex_t mutex = CATAPULTS_MUTEX_INITIALIZER;
static catapults_cond_t cond = CATAPULTS_COND_INITIALIZER;
static char order[64];

static int64_t after(int64_t milliseconds) { return catapults_now() + milliseconds * 1000000; }

static void make(struct catapults_mutex_attributes attributes) {
    require(catapults_mutex_init(&mutex, &attributes) == 0);
}

static void *try_it(void *argument) {
    (void)argument;
    int result = catapults_mutex_trylock(&mutex);
    if (result == 0)
        require(catapults_mutex_unlock(&mutex) == 0);
    return (void *)(intptr_t)result;
}

/* ---- Types ------------------------------------------------------------------------------------------------------- */

static void recursive(void) {
    begin_fifo();
    static catapults_mutex_t initialized = CATAPULTS_RECURSIVE_MUTEX_INITIALIZER;
    require(catapults_mutex_lock(&initialized) == 0 && catapults_mutex_lock(&initialized) == 0);
    make((struct catapults_mutex_attributes){.type = CATAPULTS_MUTEX_RECURSIVE});
    require(catapults_mutex_lock(&mutex) == 0 && catapults_mutex_lock(&mutex) == 0);
    require(catapults_mutex_trylock(&mutex) == 0 && catapults_mutex_lock_until(&mutex, 0) == 0);
    for (int i = 0; i < 4; i++) {
        require(join(spawn(try_it, NULL)) == EBUSY && catapults_mutex_destroy(&mutex) == EBUSY);
        require(catapults_mutex_unlock(&mutex) == 0);
    }
    require(catapults_mutex_unlock(&mutex) == EPERM && join(spawn(try_it, NULL)) == 0);
    require(mutex.state == 0 && catapults_mutex_destroy(&mutex) == 0);
}

static void *signal_it(void *argument) {
    require(catapults_mutex_lock(&mutex) == 0); /* it is free while the other waits, however often that has locked */
    require(catapults_cond_signal(&cond) == 0 && catapults_mutex_unlock(&mutex) == 0);
    return argument;
}

static void a_wait_gives_a_recursive_one_up_whole(void) {
    begin_fifo();
    make((struct catapults_mutex_attributes){.type = CATAPULTS_MUTEX_RECURSIVE});
    for (int i = 0; i < 3; i++)
        require(catapults_mutex_lock(&mutex) == 0);
    catapults_t other = spawn(signal_it, NULL);
    require(catapults_cond_wait(&cond, &mutex) == 0);
    for (int i = 0; i < 3; i++)
        require(catapults_mutex_unlock(&mutex) == 0);
    require(catapults_mutex_unlock(&mutex) == EPERM && join(other) == 0);
}

static void normal(void) {
    begin_fifo();
    make((struct catapults_mutex_attributes){.type = CATAPULTS_MUTEX_NORMAL});
    require(catapults_mutex_lock(&mutex) == 0 && catapults_mutex_trylock(&mutex) == EBUSY);
    require(catapults_mutex_lock_until(&mutex, after(1)) == ETIMEDOUT);
    require(catapults_mutex_unlock(&mutex) == 0 && mutex.state == 0);
}

static void lock_a_normal_one_twice(void) {
    begin_fifo();
    make((struct catapults_mutex_attributes){.type = CATAPULTS_MUTEX_NORMAL});
    catapults_mutex_lock(&mutex);
    catapults_mutex_lock(&mutex);
}

static void a_normal_one_locked_twice_is_a_deadlock(void **state) {
    (void)state;
    struct child child = run_child(lock_a_normal_one_twice);
    assert_exit(&child, EXIT_FAILURE);
    assert_reported(&child, "thread 1 (main) waits for a mutex of thread 1 (main)\n");
}

static void what_is_no_mutex_is_refused(void) {
    begin_fifo();
    require(catapults_mutex_init(&mutex, &(struct catapults_mutex_attributes){.type = 77}) == EINVAL);
    require(catapults_mutex_init(&mutex, &(struct catapults_mutex_attributes){.protocol = 77}) == EINVAL);
    require(catapults_mutex_init(
                &mutex, &(struct catapults_mutex_attributes){.protocol = CATAPULTS_PROTOCOL_PROTECT}) == ENOTSUP);
    int64_t ceiling;
    require(catapults_mutex_init(&mutex, NULL) == 0 && catapults_mutex_consistent(&mutex) == EINVAL);
    require(catapults_mutex_getprioceiling(&mutex, &ceiling) == EINVAL);
    require(catapults_mutex_setprioceiling(&mutex, 1, &ceiling) == EINVAL);
}

/* ---- In time ----------------------------------------------------------------------------------------------------- */

static void *lock_in_time(void *milliseconds) {
    int result = catapults_mutex_lock_until(&mutex, after((intptr_t)milliseconds));
    if (result == 0) {
        strcat(order, "x");
        require(catapults_mutex_unlock(&mutex) == 0);
    }
    return (void *)(intptr_t)result;
}

static void who_waits_too_long_leaves_the_line(void) {
    begin_fifo();
    require(catapults_mutex_lock(&mutex) == 0);
    catapults_t brief = spawn(lock_in_time, (void *)1), lasting = spawn(lock_in_time, (void *)60000);
    int64_t before = catapults_now();
    require(join(brief) == ETIMEDOUT && catapults_now() - before >= 1000000 && order[0] == '\0');
    require(catapults_mutex_unlock(&mutex) == 0);
    require(join(lasting) == 0 && strcmp(order, "x") == 0 && mutex.state == 0);
    require(catapults_mutex_lock_until(&mutex, 0) == 0); /* it is free: whatever the instant */
    require(catapults_mutex_lock_until(&mutex, 0) == EDEADLK);
}

static int taken, late;
static void *lock_often(void *seed_) {
    unsigned seed = (unsigned)(uintptr_t)seed_;
    for (int i = 0; i < 100; i++) {
        int64_t patience = rand_r(&seed) % 40 * 1000;
        int result = catapults_mutex_lock_until(&mutex, catapults_now() + patience);
        if (result == ETIMEDOUT) {
            late++;
            continue;
        }
        require(result == 0 && taken++ == 0);
        for (int turns = rand_r(&seed) % 4; turns; turns--)
            catapults_yield();
        if (rand_r(&seed) % 8 == 0)
            catapults_sleep(10000);
        taken--;
        require(catapults_mutex_unlock(&mutex) == 0);
    }
    return NULL;
}

/* Threads come, wait, are passed over, handed the mutex or give up, in every mixture: it is never lost, nor had by two.
 */
static void many_in_time(void) {
    catapults_t threads[30];
    for (uintptr_t i = 0; i < 30; i++)
        threads[i] = spawn(lock_often, (void *)(i + 1));
    for (int i = 0; i < 30; i++)
        require(join(threads[i]) == 0);
    require(late > 0 && late < 3000 && mutex.state == 0 && mutex.waiters.first == NULL);
}

static void many_lock_in_time(void) {
    begin_fifo();
    many_in_time();
}

static void many_lock_in_time_under_an_eager_policy(void) {
    begin_eagerly();
    many_in_time();
}

/* ---- Whose owner has ended --------------------------------------------------------------------------------------- */

static catapults_rwlock_t rwlock = CATAPULTS_RWLOCK_INITIALIZER;

static void *end_with_it(void *for_ever) {
    require(catapults_mutex_lock(&mutex) == 0 && catapults_rwlock_wrlock(&rwlock) == 0);
    if (!for_ever)
        catapults_sleep(5000000);
    return NULL;
}

static void *nothing(void *argument) { return argument; }

static void *lock_given(void *mutex) {
    require(catapults_mutex_lock(mutex) == 0);
    return NULL;
}

static void *unlock_it(void *argument) {
    (void)argument;
    require(catapults_rwlock_unlock(&rwlock) == EPERM && catapults_rwlock_trywrlock(&rwlock) == EBUSY);
    return (void *)(intptr_t)catapults_mutex_unlock(&mutex);
}
static void *await_it(void *argument) {
    (void)argument;
    require(catapults_rwlock_rdlock_until(&rwlock, after(1)) == ETIMEDOUT);
    return (void *)(intptr_t)catapults_mutex_lock_until(&mutex, after(1));
}

/* Also from threads whose records lie where that of the owner lay. */
static void who_ends_keeps_it(void) {
    begin_fifo();
    join(spawn(end_with_it, &mutex));
    for (int i = 0; i < 3; i++) {
        require(join(spawn(try_it, NULL)) == EBUSY);
        require(join(spawn(unlock_it, NULL)) == EPERM);
        require(join(spawn(await_it, NULL)) == ETIMEDOUT);
    }
    require(catapults_mutex_destroy(&mutex) == EBUSY);
}

/* There are so many that memory goes back to the kernel. */
static void whose_memory_has_gone_keeps_it(void) {
    begin_fifo();
    enum { MANY = 4000 };
    static catapults_t threads[MANY];
    static catapults_mutex_t mutexes[MANY];
    for (int i = 0; i < MANY; i++)
        threads[i] = spawn(lock_given, &mutexes[i]);
    for (int i = 0; i < MANY; i++)
        require(catapults_join(threads[i], NULL) == 0);
    for (int i = 0; i < MANY; i += 100)
        require(catapults_mutex_lock_until(&mutexes[i], after(1)) == ETIMEDOUT);
}

static void who_lent_to_it_waits_on(void) {
    begin_fifo();
    catapults_t owner = spawn(end_with_it, NULL);
    catapults_yield();
    catapults_t waiters[] = {spawn(await_it, NULL), spawn(await_it, NULL)};
    require(catapults_mutex_lock_until(&mutex, after(20)) == ETIMEDOUT);
    require(join(owner) == 0);
    join(spawn(nothing, NULL));
    require(catapults_mutex_lock_until(&mutex, after(1)) == ETIMEDOUT);
    require(join(waiters[0]) == ETIMEDOUT && join(waiters[1]) == ETIMEDOUT);
}

static void wait_for_who_has_ended(void) {
    begin_fifo();
    join(spawn(end_with_it, &mutex));
    join(spawn(nothing, NULL));
    catapults_mutex_lock(&mutex);
}

static void that_is_a_deadlock(void **state) {
    (void)state;
    struct child child = run_child(wait_for_who_has_ended);
    assert_exit(&child, EXIT_FAILURE);
    assert_reported(&child, "thread 1 (main) waits for a mutex whose owner has ended");
}

/* ---- Robust ones ------------------------------------------------------------------------------------------------- */

static void *lock_and_end(void *argument) {
    require(catapults_mutex_lock(&mutex) == 0);
    if (argument)
        catapults_yield();
    return NULL;
}

static void an_owner_dies(void) {
    begin_fifo();
    make((struct catapults_mutex_attributes){.robust = true, .type = CATAPULTS_MUTEX_RECURSIVE});
    require(join(spawn(lock_and_end, NULL)) == 0);
    require(catapults_mutex_lock(&mutex) == EOWNERDEAD && catapults_mutex_lock(&mutex) == 0);
    require(catapults_mutex_unlock(&mutex) == 0);
    require(catapults_mutex_consistent(&mutex) == 0 && catapults_mutex_consistent(&mutex) == EINVAL);
    require(catapults_mutex_unlock(&mutex) == 0);
    require(catapults_mutex_lock(&mutex) == 0 && catapults_mutex_unlock(&mutex) == 0);
    /* The same for one that waits already. */
    catapults_t owner = spawn(lock_and_end, "later");
    catapults_yield();
    require(catapults_mutex_lock(&mutex) == EOWNERDEAD);
    require(join(owner) == 0);
    require(join(spawn(try_it, NULL)) == EBUSY);
}

static void *lock_and_tell(void *argument) {
    (void)argument;
    return (void *)(intptr_t)catapults_mutex_lock(&mutex);
}

static void nobody_mends_it(void) {
    begin_fifo();
    make((struct catapults_mutex_attributes){.robust = true});
    require(join(spawn(lock_and_end, NULL)) == 0);
    require(catapults_mutex_trylock(&mutex) == EOWNERDEAD);
    catapults_t waiting[] = {spawn(lock_and_tell, NULL), spawn(lock_in_time, (void *)60000)};
    catapults_yield();
    require(catapults_mutex_unlock(&mutex) == 0);
    require(join(waiting[0]) == ENOTRECOVERABLE && join(waiting[1]) == ENOTRECOVERABLE);
    require(catapults_mutex_lock(&mutex) == ENOTRECOVERABLE && catapults_mutex_trylock(&mutex) == ENOTRECOVERABLE);
    require(catapults_mutex_destroy(&mutex) == 0 && catapults_mutex_init(&mutex, NULL) == 0);
    require(catapults_mutex_lock(&mutex) == 0);
}

enum { MANY = 40000 };
static void *lock_all_and_end(void *mutexes) {
    for (int i = 0; i < MANY; i++)
        require(catapults_mutex_lock((catapults_mutex_t *)mutexes + i) == 0);
    require(catapults_mutex_unlock((catapults_mutex_t *)mutexes + 2) == 0);
    return NULL;
}

static void an_owner_of_many_dies(void) {
    begin_fifo();
    static catapults_mutex_t many[MANY];
    for (int i = 0; i < MANY; i++)
        require(catapults_mutex_init(&many[i], &(struct catapults_mutex_attributes){.robust = i != 4}) == 0);
    require(join(spawn(lock_all_and_end, many)) == 0);
    for (int i = 0; i < MANY; i++)
        require(catapults_mutex_trylock(&many[i]) == (i == 2 ? 0 : i == 4 ? EBUSY : EOWNERDEAD));
}

static void *wait_with_it(void *argument) {
    (void)argument;
    int result = catapults_mutex_lock(&mutex);
    if (result == 0)
        result = catapults_cond_wait(&cond, &mutex);
    return (void *)(intptr_t)result;
}

static void who_waits_on_a_condition_is_told(void) {
    begin_fifo();
    make((struct catapults_mutex_attributes){.robust = true});
    catapults_t waiting = spawn(wait_with_it, NULL);
    catapults_yield();
    catapults_t owner = spawn(lock_and_end, NULL);
    catapults_yield();
    require(catapults_cond_destroy(&cond) == EBUSY && catapults_cond_signal(&cond) == 0);
    require(join(owner) == 0 && join(waiting) == EOWNERDEAD && catapults_cond_destroy(&cond) == 0);
}

/* ---- Ceilings ---------------------------------------------------------------------------------------------------- */

struct urgent {
    catapults_int priority;
    const char *name;
};

static void *note(void *urgent) {
    strcat(order, ((struct urgent *)urgent)->name);
    return NULL;
}

static void create(struct urgent *urgent) {
    struct catapults_attributes attributes = {.object = urgent, .detached = true};
    require(catapults_create(NULL, &attributes, note, urgent) == 0);
}

static void ceilings(void) {
    require(catapults_init(&(struct catapults_options){.policy = POLICIES "/urgency.so"}) == 0);
    require(catapults_threadvar_register("priority", struct urgent, priority) == 0);
    require(catapults_threadvar_register("ceiling", struct urgent, priority) == EEXIST);
    static catapults_mutex_t low, high;
    struct catapults_mutex_attributes attributes = {.protocol = CATAPULTS_PROTOCOL_PROTECT, .ceiling = 5};
    require(catapults_mutex_init(&low, &attributes) == 0);
    attributes.ceiling = 7;
    require(catapults_mutex_init(&high, &attributes) == 0);
    int64_t ceiling;
    require(catapults_mutex_setprioceiling(&high, 8, &ceiling) == 0 && ceiling == 7);
    require(catapults_mutex_getprioceiling(&high, &ceiling) == 0 && ceiling == 8);

    static struct urgent most = {9, "a"};
    create(&most); /* more urgent than the caller, which has 1 */
    require(strcmp(order, "a") == 0);
    require(catapults_mutex_lock(&low) == 0 && catapults_mutex_lock(&high) == 0);
    static struct urgent urgents[] = {{6, "b"}, {4, "c"}, {1, "d"}, {8, "e"}, {9, "f"}};
    for (int i = 0; i < 5; i++)
        create(&urgents[i]);
    require(strcmp(order, "af") == 0); /* nobody below the ceiling runs */
    require(catapults_mutex_unlock(&high) == 0);
    require(strcmp(order, "afeb") == 0); /* the other still holds */
    require(catapults_mutex_lock(&high) == 0 && catapults_mutex_unlock(&low) == 0);
    require(strcmp(order, "afeb") == 0);
    require(catapults_mutex_unlock(&high) == 0);
    require(strcmp(order, "afebcd") == 0);
}

/* Taken and given back in any order, with others among them that have none. */
enum { SOME = 12, GREATEST = 9 };
static struct urgent levels[GREATEST + 1];
static int created[GREATEST + 1], ran[GREATEST + 1];

static void *count(void *urgent) {
    ran[((struct urgent *)urgent)->priority]++;
    return NULL;
}

/* Those above the ceiling run, and no others. The caller has 1, and whoever gets there later waits. */
static void require_ceiling(int64_t ceiling) {
    for (int i = 2; i <= GREATEST; i++) {
        levels[i].priority = i;
        struct catapults_attributes attributes = {.object = &levels[i], .detached = true};
        require(catapults_create(NULL, &attributes, count, &levels[i]) == 0);
        created[i]++;
        require((ran[i] == created[i]) == (i > ceiling));
    }
}

static void the_greatest_ceiling_counts(void) {
    require(catapults_init(&(struct catapults_options){.policy = POLICIES "/urgency.so"}) == 0);
    require(catapults_threadvar_register("priority", struct urgent, priority) == 0);
    static catapults_mutex_t mutexes[SOME];
    int64_t ceilings[SOME];
    bool has[SOME] = {false};
    for (int i = 0; i < SOME; i++) {
        ceilings[i] = i % 4 == 0 ? 0 : 2 + i % 6;
        struct catapults_mutex_attributes attributes = {.robust = i % 4 < 2, .ceiling = ceilings[i]};
        if (ceilings[i])
            attributes.protocol = CATAPULTS_PROTOCOL_PROTECT;
        require(catapults_mutex_init(&mutexes[i], &attributes) == 0);
    }
    unsigned seed = 1;
    for (int step = 0; step < 120; step++) {
        int which = rand_r(&seed) % SOME;
        require((has[which] ? catapults_mutex_unlock : catapults_mutex_lock)(&mutexes[which]) == 0);
        has[which] = !has[which];
        int64_t greatest = 1;
        for (int i = 0; i < SOME; i++)
            if (has[i] && greatest < ceilings[i])
                greatest = ceilings[i];
        require_ceiling(greatest);
    }
}

/* It has it then, with the ceiling that it had. */
static void who_sets_a_ceiling_is_told_that_an_owner_died(void) {
    require(catapults_init(&(struct catapults_options){.policy = POLICIES "/urgency.so"}) == 0);
    make((struct catapults_mutex_attributes){.robust = true, .protocol = CATAPULTS_PROTOCOL_PROTECT, .ceiling = 5});
    require(join(spawn(lock_and_end, NULL)) == 0);
    int64_t before = -1, ceiling;
    require(catapults_mutex_setprioceiling(&mutex, 8, &before) == EOWNERDEAD && before == -1);
    require(catapults_mutex_getprioceiling(&mutex, &ceiling) == 0 && ceiling == 5);
    require(catapults_mutex_lock_until(&mutex, 0) == EDEADLK);
    require(catapults_mutex_consistent(&mutex) == 0 && catapults_mutex_unlock(&mutex) == 0);
    require(catapults_mutex_setprioceiling(&mutex, 8, &before) == 0 && before == 5);
    require(join(spawn(try_it, NULL)) == 0);
    require(join(spawn(lock_and_end, NULL)) == 0);
    require(catapults_mutex_setprioceiling(&mutex, 9, NULL) == EOWNERDEAD && catapults_mutex_unlock(&mutex) == 0);
    require(catapults_mutex_setprioceiling(&mutex, 9, NULL) == ENOTRECOVERABLE);
}

static void replace(const char *policy) {
    require(catapults_policy_replace(NULL, policy) == 0);
    *order = 0;
}

/* Two come, of whom `before` run at once, and when the caller has unlocked, `after` have run. */
static void unlock_and_find(catapults_mutex_t *locked, const char *before, const char *after) {
    static struct urgent urgents[] = {{4, "a"}, {6, "b"}};
    for (int i = 0; i < 2; i++)
        create(&urgents[i]);
    require(strcmp(order, before) == 0);
    require(catapults_mutex_unlock(locked) == 0);
    require(strcmp(order, after) == 0);
}

/* Without `ceiling` it is a mutex like others; with it, what is held counts, whenever it was locked. */
static void ceilings_of_a_policy_that_is_replaced(void) {
    require(catapults_init(&(struct catapults_options){.policy = POLICIES "/urgency.so"}) == 0);
    require(catapults_threadvar_register("priority", struct urgent, priority) == 0);
    struct catapults_mutex_attributes attributes = {.protocol = CATAPULTS_PROTOCOL_PROTECT, .ceiling = 5};
    static catapults_mutex_t protect, other;
    require(catapults_mutex_init(&protect, &attributes) == 0);

    require(catapults_mutex_lock(&protect) == 0); /* under the one, unlocked under the other */
    replace(NULL);
    require(catapults_mutex_init(&other, &attributes) == ENOTSUP);
    unlock_and_find(&protect, "", "ab"); /* the caller yields, as ever when its ceiling falls */
    int64_t ceiling;
    require(catapults_mutex_getprioceiling(&protect, &ceiling) == 0 && ceiling == 5);
    require(catapults_mutex_setprioceiling(&protect, 4, &ceiling) == 0 && ceiling == 5);

    require(catapults_mutex_lock(&protect) == 0); /* and the other way round */
    replace(POLICIES "/urgency.so");
    unlock_and_find(&protect, "b", "ba");

    require(catapults_mutex_lock(&protect) == 0); /* there and back */
    replace(NULL);
    replace(POLICIES "/urgency.so");
    unlock_and_find(&protect, "b", "ba");

    require(catapults_mutex_lock(&protect) == 0); /* nothing is left of it */
    replace(NULL);
    require(catapults_mutex_unlock(&protect) == 0);
    replace(POLICIES "/urgency.so");
    require(catapults_mutex_init(&other, NULL) == 0 && catapults_mutex_lock(&other) == 0);
    unlock_and_find(&other, "ab", "ab");
}

/* As of INHERIT: whoever waits for it lends, and its owner does not come after all others. */
static catapults_mutex_t lent;

static void *lock_and_come_later(void *argument) {
    require(catapults_mutex_lock(&lent) == 0);
    catapults_yield();
    strcat(order, "o");
    require(catapults_mutex_unlock(&lent) == 0);
    return argument;
}

static void *lock_at_once(void *argument) {
    require(catapults_mutex_trylock(&lent) == EBUSY && catapults_mutex_lock(&lent) == 0);
    require(catapults_mutex_unlock(&lent) == 0);
    return argument;
}

static void *end_with_lent(void *argument) {
    require(catapults_mutex_lock(&lent) == 0);
    return argument;
}

static void *come_between(void *argument) {
    strcat(order, "x");
    return argument;
}

static void without_a_ceiling_who_waits_lends(void) {
    require(catapults_init(&(struct catapults_options){.policy = POLICIES "/urgency.so"}) == 0);
    struct catapults_mutex_attributes attributes = {.protocol = CATAPULTS_PROTOCOL_PROTECT, .ceiling = 5};
    require(catapults_mutex_init(&lent, &attributes) == 0);
    replace(NULL);
    catapults_t threads[] = {spawn(lock_and_come_later, NULL), spawn(lock_at_once, NULL), spawn(come_between, NULL)};
    for (int i = 0; i < 3; i++)
        require(join(threads[i]) == 0);
    require(strcmp(order, "ox") == 0);

    catapults_t owner = spawn(end_with_lent, NULL); /* who has ended is lent nothing */
    catapults_yield();
    require(catapults_mutex_lock_until(&lent, after(1)) == ETIMEDOUT && join(owner) == 0);
}

/* As of a scheduler that imports it not, which a thread goes to with a mutex and comes back from with two. */
static void ceilings_of_another_scheduler(void) {
    require(catapults_init(&(struct catapults_options){.policy = POLICIES "/urgency.so"}) == 0);
    require(catapults_threadvar_register("priority", struct urgent, priority) == 0);
    struct catapults_mutex_attributes attributes = {.protocol = CATAPULTS_PROTOCOL_PROTECT, .ceiling = 3};
    static catapults_mutex_t low, high;
    require(catapults_mutex_init(&low, &attributes) == 0);
    attributes.ceiling = 5;
    require(catapults_mutex_init(&high, &attributes) == 0);
    catapults_scheduler_t below;
    require(catapults_scheduler_add(&below, &(struct catapults_scheduler_attributes){.name = "below"}) == 0);
    require(catapults_mutex_lock(&low) == 0 && catapults_scheduler_attach(below) == 0);
    require(catapults_mutex_lock(&high) == 0 && catapults_scheduler_attach(catapults_scheduler_root()) == 0);
    unlock_and_find(&high, "b", "ba");
    require(catapults_mutex_unlock(&low) == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        child_test(recursive),
        child_test(a_wait_gives_a_recursive_one_up_whole),
        child_test(normal),
        cmocka_unit_test(a_normal_one_locked_twice_is_a_deadlock),
        child_test(what_is_no_mutex_is_refused),
        child_test(who_waits_too_long_leaves_the_line),
        child_test(many_lock_in_time),
        child_test(many_lock_in_time_under_an_eager_policy),
        child_test(who_ends_keeps_it),
        child_test(whose_memory_has_gone_keeps_it),
        child_test(who_lent_to_it_waits_on),
        cmocka_unit_test(that_is_a_deadlock),
        child_test(an_owner_dies),
        child_test(nobody_mends_it),
        child_test(an_owner_of_many_dies),
        child_test(who_waits_on_a_condition_is_told),
        child_test(ceilings),
        child_test(the_greatest_ceiling_counts),
        child_test(who_sets_a_ceiling_is_told_that_an_owner_died),
        child_test(ceilings_of_a_policy_that_is_replaced),
        child_test(without_a_ceiling_who_waits_lends),
        child_test(ceilings_of_another_scheduler),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
