/*
 * Several processors: far more threads than turns can wait are bound to some that are kept, and are more urgent than
 * whoever else could run. The others have something to do all the same, and in the end all come.
 */
#include <errno.h>
#include <stdatomic.h>

#include "catapults.h"
#include "support/child.h"

enum { MS = 1000000, MANY = 200, ROUNDS = 5 };

struct task {
    catapults_int priority;
};
static struct task least = {1}, urgent = {5}, most_urgent = {9};

static atomic_bool let_go;
static atomic_int kept, came;

static void begin_under(const char *policy, int processors) {
    alarm(HANGS);
    require(catapults_init(&(struct catapults_options){.processors = processors, .policy = policy}) == 0);
    catapults_threadvar_register("priority", struct task, priority);
    catapults_set_object(catapults_self(), &least);
    require(catapults_setaffinity(catapults_self(), UINT64_C(1) << (processors - 1)) == 0);
}

static void begin(int processors) { begin_under(POLICIES "/of_the_library/fixed_priority.so", processors); }

static catapults_t spawn_under(catapults_scheduler_t scheduler, struct task *task, uint64_t processors,
                               void *(*start)(void *)) {
    struct catapults_attributes attributes = {.object = task, .processors = processors, .scheduler = scheduler};
    catapults_t thread;
    require(catapults_create(&thread, &attributes, start, NULL) == 0);
    return thread;
}

static catapults_t spawn(struct task *task, uint64_t processors, void *(*start)(void *)) {
    return spawn_under(NULL, task, processors, start);
}

static void *keep(void *argument) {
    atomic_fetch_add(&kept, 1);
    while (!atomic_load(&let_go))
        ;
    return argument;
}

static void *go_by(void *argument) { return argument; }

static void *come(void *argument) {
    atomic_fetch_add(&came, 1);
    return argument;
}

static void *yield_and_come(void *argument) {
    for (int i = 0; i < 3; i++)
        catapults_yield();
    return come(argument);
}

static void *let_them_go(void *argument) {
    require(atomic_load(&came) == 0);
    atomic_store(&let_go, true);
    return argument;
}

/* The first `count` processors are kept. */
static void keep_processors(catapults_t *keepers, int count) {
    atomic_store(&let_go, false);
    atomic_store(&kept, 0);
    atomic_store(&came, 0);
    for (int i = 0; i < count; i++)
        keepers[i] = spawn(&most_urgent, UINT64_C(1) << i, keep);
    while (atomic_load(&kept) < count)
        catapults_yield();
}

static void join_all(const catapults_t *threads, int count) {
    for (int i = 0; i < count; i++)
        require(catapults_join(threads[i], NULL) == 0);
}

static catapults_t threads[MANY], keepers[2];

static void rounds(catapults_scheduler_t scheduler, int kept_ones, void *(*start)(void *)) {
    for (int round = 0; round < ROUNDS; round++) {
        keep_processors(keepers, kept_ones);
        for (int i = 0; i < MANY; i++)
            threads[i] = spawn_under(scheduler, &urgent, (UINT64_C(1) << kept_ones) - 1, start);
        catapults_t other = spawn(&least, 0, let_them_go);
        join_all(&other, 1);
        join_all(threads, MANY);
        join_all(keepers, kept_ones);
        require(atomic_load(&came) == MANY);
    }
}

static void to_one_that_is_kept(void) {
    begin(2);
    rounds(NULL, 1, come);
}

static void to_one_that_is_kept_in_turns(void) {
    begin(2);
    rounds(NULL, 1, yield_and_come);
}

static atomic_int place;

/* Before how many others. */
static void *come_at_a_place(void *argument) {
    atomic_store(&place, atomic_fetch_add(&came, 1));
    return argument;
}

/* Who comes last of all, when none can wait any more, is the most urgent. */
static void the_most_urgent_comes_first(void) {
    begin(2);
    keep_processors(keepers, 1);
    for (int i = 0; i < MANY; i++)
        threads[i] = spawn(&urgent, 1, come);
    join_all((catapults_t[]){spawn(&least, 0, go_by)}, 1);
    catapults_t last = spawn(&most_urgent, 1, come_at_a_place);
    join_all((catapults_t[]){spawn(&least, 0, go_by)}, 1);
    require(atomic_load(&came) == 0);
    atomic_store(&let_go, true);
    join_all(threads, MANY);
    join_all(&last, 1);
    join_all(keepers, 1);
    require(atomic_load(&place) == 0);
}

static catapults_mutex_t lock = CATAPULTS_MUTEX_INITIALIZER;
static atomic_bool locked;

static void *own(void *argument) {
    require(catapults_mutex_lock(&lock) == 0);
    atomic_store(&locked, true);
    while (atomic_load(&kept) == 0)
        ;
    come_at_a_place(argument);
    require(catapults_mutex_unlock(&lock) == 0);
    return argument;
}

static void *need(void *argument) {
    require(catapults_mutex_lock(&lock) == 0 && catapults_mutex_unlock(&lock) == 0);
    return argument;
}

/* The least urgent of all owns what the most urgent waits for. */
static void the_owner_comes_first(void) {
    begin(2);
    catapults_t owner = spawn(&least, 1, own);
    while (!atomic_load(&locked))
        catapults_yield();
    keep_processors(keepers, 1);
    for (int i = 0; i < MANY; i++)
        threads[i] = spawn(&urgent, 1, come);
    join_all((catapults_t[]){spawn(&least, 0, go_by)}, 1);
    catapults_t waiter = spawn(&most_urgent, 0, need);
    join_all((catapults_t[]){spawn(&least, 0, go_by)}, 1);
    require(atomic_load(&came) == 0);
    atomic_store(&let_go, true);
    join_all(threads, MANY);
    join_all((catapults_t[]){owner, waiter}, 2);
    join_all(keepers, 1);
    require(atomic_load(&place) == 0);
}

static struct task very_urgent = {7};

static void *wake_now_and_then(void *argument) {
    for (int i = 0; i < 8; i++)
        catapults_sleep(3 * MS);
    atomic_store(&let_go, true);
    return argument;
}

static void *yield_until_let_go(void *argument) {
    while (!atomic_load(&let_go))
        catapults_yield();
    return argument;
}

/* On the first of two processors; the least urgent computes on the second. */
static void begin_beside_the_least_urgent(void) {
    begin(2);
    require(catapults_setaffinity(catapults_self(), 1) == 0);
    keepers[0] = spawn(&least, 2, keep);
    while (atomic_load(&kept) < 1)
        catapults_sleep(MS / 10);
}

/* The least urgent computes on the second processor, for which somebody sleeps; the first is idle, or is not. */
static void wake_where_another_computes(bool idle) {
    begin_beside_the_least_urgent();
    threads[0] = spawn(&very_urgent, 2, wake_now_and_then);
    threads[1] = spawn(&urgent, 1, idle ? go_by : yield_until_let_go);
    join_all(threads, 2);
    join_all(keepers, 1);
}
static void who_wakes_has_the_only_processor(void) { wake_where_another_computes(true); }
static void who_wakes_has_the_only_processor_while_none_is_idle(void) { wake_where_another_computes(false); }

static void *let_go_at_once(void *argument) {
    atomic_store(&let_go, true);
    return argument;
}

/* Who is READY is bound to where the least urgent computes, while somebody decides here, or nobody. */
static void bind_where_another_computes(bool decide) {
    begin_beside_the_least_urgent();
    catapults_set_object(catapults_self(), &most_urgent);
    catapults_yield();
    catapults_t other = spawn(&urgent, 1, let_go_at_once);
    require(catapults_setaffinity(other, 2) == 0);
    while (!decide && !atomic_load(&let_go))
        ;
    join_all(&other, 1);
    join_all(keepers, 1);
}
static void who_is_bound_there_comes_first(void) { bind_where_another_computes(true); }
static void who_is_bound_there_comes_first_while_nobody_decides(void) { bind_where_another_computes(false); }

static void to_two_that_are_kept(void) {
    begin(3);
    rounds(NULL, 2, yield_and_come);
}

static void under_a_scheduler_of_their_own(void) {
    begin(2);
    catapults_scheduler_t scheduler;
    struct catapults_scheduler_attributes attributes = {.name = "below",
                                                        .policy = POLICIES "/of_the_library/fixed_priority.so"};
    struct catapults_value value = catapults_value_int("priority", urgent.priority);
    require(catapults_scheduler_add(&scheduler, &attributes) == 0);
    require(catapults_scheduler_set_values(scheduler, &value, 1) == 0);
    rounds(scheduler, 1, yield_and_come);
}

/* One of two is kept; all others are bound to it, and have been dispatched. */
static void keep_one_of_two(void) {
    keep_processors(keepers, 1);
    for (int i = 0; i < MANY; i++)
        threads[i] = spawn(&urgent, 1, yield_and_come);
    join_all((catapults_t[]){spawn(&least, 0, come)}, 1);
    require(atomic_load(&came) == 1);
}

static void end(void) {
    atomic_store(&let_go, true);
    join_all(threads, MANY);
    join_all(keepers, 1);
    require(atomic_load(&came) == MANY + 1);
}

/* Of each kind of those that wait: the first, and such as had no room. */
static void they_are_suspended_meanwhile(void) {
    begin(2);
    keep_one_of_two();
    for (int i = 0; i < MANY; i += 10)
        require(catapults_suspend(threads[i]) == 0);
    atomic_store(&let_go, true);
    for (int i = 0; i < MANY; i++)
        if (i % 10)
            require(catapults_join(threads[i], NULL) == 0);
    require(atomic_load(&came) == 1 + MANY - MANY / 10);
    for (int i = 0; i < MANY; i += 10) {
        require(catapults_resume(threads[i]) == 0 && catapults_resume(threads[i]) == EINVAL);
        require(catapults_join(threads[i], NULL) == 0);
    }
    join_all(keepers, 1);
}

static void they_are_bound_to_another_meanwhile(void) {
    begin(2);
    keep_one_of_two();
    for (int i = MANY / 2; i < MANY; i++)
        require(catapults_setaffinity(threads[i], 2) == 0);
    join_all(threads + MANY / 2, MANY / 2);
    require(atomic_load(&came) == 1 + MANY / 2);
    atomic_store(&let_go, true);
    join_all(threads, MANY / 2);
    join_all(keepers, 1);
}

static void another_policy_comes(const char *policy) {
    begin(2);
    keep_one_of_two();
    require(catapults_policy_replace(NULL, policy) == 0);
    join_all((catapults_t[]){spawn(&least, 2, come)}, 1);
    require(atomic_fetch_sub(&came, 1) == 2);
    end();
}

static void another_policy_comes_meanwhile(void) { another_policy_comes(POLICIES "/turns.so"); }
static void one_with_nodes_comes_meanwhile(void) { another_policy_comes(POLICIES "/per_processor_fifo.so"); }

static void processors_go_and_come_meanwhile(void) {
    begin(2);
    keep_one_of_two();
    require(catapults_set_processors(1) == 0 && catapults_set_processors(2) == 0);
    end();
}

static void a_child_is_made_meanwhile(void) {
    begin(2);
    keep_one_of_two();
    pid_t pid = catapults_fork();
    require(pid >= 0);
    if (pid == 0) {
        join_all((catapults_t[]){spawn(&least, 0, come)}, 1);
        _exit(atomic_load(&came) == 2 ? 7 : 1);
    }
    int status;
    require(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 7);
    end();
}

int main(int given, char **arguments) {
    if (given > 1)
        cmocka_set_test_filter(arguments[1]);
    const struct CMUnitTest tests[] = {
        child_test(to_one_that_is_kept),
        child_test(to_one_that_is_kept_in_turns),
        child_test(the_most_urgent_comes_first),
        child_test(the_owner_comes_first),
        child_test(who_wakes_has_the_only_processor),
        child_test(who_wakes_has_the_only_processor_while_none_is_idle),
        child_test(who_is_bound_there_comes_first),
        child_test(who_is_bound_there_comes_first_while_nobody_decides),
        child_test(to_two_that_are_kept),
        child_test(under_a_scheduler_of_their_own),
        child_test(they_are_suspended_meanwhile),
        child_test(they_are_bound_to_another_meanwhile),
        child_test(another_policy_comes_meanwhile),
        child_test(one_with_nodes_comes_meanwhile),
        child_test(processors_go_and_come_meanwhile),
        child_test(a_child_is_made_meanwhile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
