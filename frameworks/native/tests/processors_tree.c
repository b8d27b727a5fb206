/*
 * Trees of schedulers on several processors: what is under one scheduler runs on all of them, whoever is above decides,
 * and what goes wrong stays where it is.
 */
#include <errno.h>
#include <stdatomic.h>

#include "catapults.h"
#include "dispatcher/dispatcher.h"
#include "support/child.h"

enum { MS = 1000000 };

static void begin(int processors, const char *policy) {
    alarm(HANGS);
    require(catapults_init(&(struct catapults_options){.processors = processors, .policy = policy}) == 0);
}

static catapults_scheduler_t add(const char *name, catapults_scheduler_t parent, const char *policy) {
    catapults_scheduler_t scheduler;
    struct catapults_scheduler_attributes attributes = {.name = name, .parent = parent, .policy = policy};
    require(catapults_scheduler_add(&scheduler, &attributes) == 0);
    return scheduler;
}

static catapults_t spawn(catapults_scheduler_t scheduler, void *(*start)(void *), void *argument) {
    catapults_t thread;
    struct catapults_attributes attributes = {.scheduler = scheduler, .object = argument};
    require(catapults_create(&thread, &attributes, start, argument) == 0);
    return thread;
}

static void join_all(const catapults_t *threads, int count) {
    for (int i = 0; i < count; i++)
        require(catapults_join(threads[i], NULL) == 0);
}

/* In its own code: it makes no call of the runtime. */
static bool compute_until(atomic_bool *flag, int64_t most) {
    for (int64_t end = catapults_now() + most; !atomic_load(flag) && catapults_now() < end;)
        for (int i = 0; i < 1000 && !atomic_load_explicit(flag, memory_order_relaxed); i++)
            ;
    return atomic_load(flag);
}

static void *turn(void *argument) {
    for (int i = 0; i < 1000; i++)
        catapults_yield();
    return argument;
}

/* ---- At the same time -------------------------------------------------------------------------------------------- */

static atomic_int there;

/* None of them lets another run. */
static void *meet(void *argument) {
    int expected = (int)(intptr_t)argument;
    atomic_fetch_add(&there, 1);
    while (atomic_load(&there) < expected)
        ;
    return NULL;
}

static void what_is_under_one_has_all_processors(void) {
    begin(3, NULL);
    catapults_scheduler_t outer = add("outer", NULL, NULL), inner = add("inner", outer, POLICIES "/turns.so");
    catapults_t threads[10];
    for (int round = 0; round < 20; round++) {
        atomic_store(&there, 0);
        for (int i = 0; i < 3; i++)
            threads[i] = spawn(round % 2 ? inner : outer, meet, (void *)3);
        join_all(threads, 3);
    }
    /* Of ten, three at a time. */
    atomic_store(&there, 0);
    for (int i = 0; i < 10; i++)
        threads[i] = spawn(inner, meet, (void *)3);
    join_all(threads, 10);
}

static void processors_that_come_are_used(void) {
    begin(2, NULL);
    catapults_scheduler_t child = add("child", NULL, NULL);
    catapults_t threads[4];
    for (int i = 0; i < 4; i++)
        threads[i] = spawn(child, meet, (void *)4);
    require(catapults_set_processors(5) == 0);
    join_all(threads, 4);
    require(catapults_set_processors(1) == 0);
    for (int i = 0; i < 4; i++)
        threads[i] = spawn(child, turn, NULL);
    join_all(threads, 4);
}

static atomic_bool stop;

static void *spin(void *argument) {
    atomic_fetch_add(&there, 1);
    while (!atomic_load_explicit(&stop, memory_order_relaxed))
        if (argument)
            atomic_fetch_add_explicit((atomic_int *)argument, 1, memory_order_relaxed);
    return NULL;
}

/* Their turns wait for the second one; the first goes on with what else there is. */
static void who_is_bound_keeps_nobody_from_the_others(void) {
    begin(2, NULL);
    require(catapults_setaffinity(catapults_self(), 1) == 0);
    catapults_scheduler_t child = add("child", NULL, NULL);
    catapults_t threads[7];
    struct catapults_attributes last = {.processors = 2, .scheduler = child};
    require(catapults_create(&threads[0], &last, spin, NULL) == 0);
    while (atomic_load(&there) == 0)
        ;
    for (int i = 1; i < 6; i++)
        require(catapults_create(&threads[i], &last, turn, NULL) == 0);
    threads[6] = spawn(child, turn, NULL);
    require(catapults_join(threads[6], NULL) == 0);
    atomic_store(&stop, true);
    join_all(threads, 6);
}

/* ---- Whoever is above decides ------------------------------------------------------------------------------------ */

static void *sleep_often(void *argument) {
    for (int i = 0; i < 30; i++)
        catapults_sleep(MS);
    return argument;
}

/* Both processors are computing below, and nobody gives one up. */
static void who_is_urgent_above_takes_a_processor(void) {
    begin(2, POLICIES "/urgency.so");
    catapults_scheduler_t high = add("high", NULL, NULL), low = add("low", NULL, NULL);
    struct catapults_value five = catapults_value_int("priority", 5), none = catapults_value_int("priority", 0);
    require(catapults_scheduler_set_values(high, &five, 1) == 0);
    require(catapults_scheduler_set_values(low, &none, 1) == 0);
    catapults_t spinning[] = {spawn(low, spin, NULL), spawn(low, spin, NULL)};
    catapults_t urgent[] = {spawn(high, sleep_often, NULL), spawn(high, sleep_often, NULL)};
    join_all(urgent, 2);
    atomic_store(&stop, true);
    join_all(spinning, 2);
}

static char order[16];

static void *note(void *name) {
    strcat(order, name);
    return NULL;
}

/* All that a scheduler is to its parent has them. */
static void values_are_those_of_the_scheduler(void) {
    begin(3, POLICIES "/urgency.so");
    catapults_scheduler_t a = add("a", NULL, NULL), b = add("b", NULL, NULL);
    catapults_t threads[6];
    for (int i = 0; i < 6; i++)
        threads[i] = spawn(i < 3 ? a : b, meet, (void *)3);
    join_all(threads, 6);
    struct catapults_value two = catapults_value_int("priority", 2), three = catapults_value_int("priority", 3);
    require(catapults_set_values(catapults_self(), &three, 1) == 0);
    require(catapults_scheduler_set_values(b, &two, 1) == 0);
    require(catapults_set_processors(1) == 0);
    require(catapults_setaffinity(catapults_self(), 1) == 0);
    for (int i = 0; i < 6; i++)
        threads[i] = spawn(i < 3 ? a : b, note, i < 3 ? "a" : "b");
    join_all(threads, 6);
    require(strcmp(order, "bbbaaa") == 0);
}

static void turns_end_on_all(void) {
    static atomic_int spun[6];
    begin(2, NULL);
    catapults_scheduler_t child = add("child", add("above", NULL, NULL), POLICIES "/turns.so");
    catapults_t threads[6];
    for (int i = 0; i < 6; i++)
        threads[i] = spawn(child, spin, &spun[i]);
    for (bool all = false; !all;) {
        catapults_sleep(5 * MS);
        all = true;
        for (int i = 0; i < 6; i++)
            all = all && atomic_load(&spun[i]) > 0;
    }
    atomic_store(&stop, true);
    join_all(threads, 6);
}

static void who_runs_elsewhere_can_be_suspended(void) {
    static atomic_int spun;
    begin(2, NULL);
    catapults_t thread = spawn(add("child", add("above", NULL, NULL), NULL), spin, &spun);
    while (atomic_load(&spun) == 0)
        ;
    require(catapults_suspend(thread) == 0);
    int before;
    do {
        before = atomic_load(&spun);
        catapults_sleep(20 * MS);
    } while (before != atomic_load(&spun));
    require(catapults_resume(thread) == 0);
    while (before == atomic_load(&spun))
        catapults_yield();
    atomic_store(&stop, true);
    require(catapults_join(thread, NULL) == 0);
}

/* ---- Coming and going -------------------------------------------------------------------------------------------- */

static void *come_and_go(void *name) {
    for (int i = 0; i < 60; i++) {
        catapults_scheduler_t mine = add(name, NULL, i % 2 ? POLICIES "/eager.so" : NULL);
        catapults_t threads[] = {spawn(mine, turn, NULL), spawn(mine, turn, NULL), spawn(mine, turn, NULL)};
        join_all(threads, 3);
        require(catapults_scheduler_remove(mine) == 0);
        require(catapults_scheduler_find(name) == NULL);
    }
    return NULL;
}

/* One in the other, at once: removed in order they are gone in order. */
static void *come_and_go_together(void *name) {
    char inner[] = {*(char *)name, '2', 0}, innermost[] = {*(char *)name, '3', 0};
    for (int i = 0; i < 60; i++) {
        catapults_scheduler_t outer = add(name, NULL, i % 2 ? POLICIES "/eager.so" : NULL);
        catapults_scheduler_t middle = add(inner, outer, i % 3 ? POLICIES "/eager.so" : NULL);
        catapults_scheduler_t mine = add(innermost, middle, NULL);
        catapults_t threads[] = {spawn(mine, turn, NULL), spawn(middle, turn, NULL), spawn(mine, turn, NULL)};
        require(catapults_scheduler_remove(outer) == EBUSY);
        join_all(threads, 3);
        require(catapults_scheduler_remove(outer) == EBUSY);
        require(catapults_scheduler_remove(mine) == 0 && catapults_scheduler_remove(middle) == 0);
        require(catapults_scheduler_remove(outer) == 0);
        require(catapults_scheduler_find(name) == NULL && catapults_scheduler_find(inner) == NULL);
    }
    return NULL;
}

static uint32_t schedulers(void) {
    uint32_t count = 0;
    dispatcher_enter();
    for (const struct scheduler *one = dispatcher_root(); one; one = dispatcher_next_scheduler(one))
        count++;
    dispatcher_leave();
    return count;
}

static void whole_branches_come_and_go(void) {
    begin(3, NULL);
    catapults_t threads[] = {spawn(NULL, come_and_go_together, "x"), spawn(NULL, come_and_go_together, "y"),
                             spawn(NULL, come_and_go_together, "z")};
    join_all(threads, 3);
    for (int i = 0; i < 100 && schedulers() > 1; i++)
        catapults_sleep(MS);
    require(schedulers() == 1); /* all have ended */
}

static void schedulers_come_and_go(void) {
    begin(3, NULL);
    catapults_t threads[] = {spawn(NULL, come_and_go, "x"), spawn(NULL, come_and_go, "y"),
                             spawn(NULL, come_and_go, "z")};
    join_all(threads, 3);
    for (int i = 0; i < 10; i++)
        catapults_yield();
    require(catapults_scheduler_remove(add("last", NULL, NULL)) == 0);
}

static void *wander(void *argument) {
    catapults_scheduler_t *way = argument;
    for (int i = 0; i < 40; i++) {
        for (catapults_scheduler_t *next = way; *next; next++) {
            require(catapults_scheduler_attach(*next) == 0);
            require(catapults_scheduler_self() == *next);
            catapults_yield();
            if (i % 10 == 0)
                catapults_sleep(10000);
        }
    }
    return argument;
}

static void threads_change_their_scheduler(void) {
    begin(3, POLICIES "/hierarchy.so");
    catapults_scheduler_t high = catapults_scheduler_find("high"), low = catapults_scheduler_find("low");
    require(catapults_scheduler_self() == low);
    catapults_scheduler_t below = add("below", high, NULL);
    catapults_scheduler_t way[] = {high, catapults_scheduler_root(), low, below, low, high, NULL};
    catapults_t threads[10];
    for (int i = 0; i < 10; i++)
        threads[i] = spawn(NULL, wander, way);
    join_all(threads, 10);
}

static void policies_are_replaced(void) {
    static const char *const policies[] = {POLICIES "/turns.so", POLICIES "/eager.so", NULL};
    begin(3, NULL);
    catapults_scheduler_t schedulers[] = {catapults_scheduler_root(), add("outer", NULL, NULL), NULL};
    schedulers[2] = add("inner", schedulers[1], NULL);
    catapults_t threads[9];
    for (int i = 0; i < 9; i++)
        threads[i] = spawn(schedulers[i % 3], turn, NULL);
    for (int i = 0; i < 90; i++) {
        require(catapults_policy_replace(schedulers[i % 3], policies[i / 3 % 3]) == 0);
        catapults_yield();
    }
    join_all(threads, 9);
}

/* ---- What goes wrong --------------------------------------------------------------------------------------------- */

static catapults_int connections, shy;

static void only_the_policy_that_fails_is_out(void) {
    begin(3, NULL);
    catapults_scheduler_t outer = add("outer", NULL, POLICIES "/bytes.so"),
                          inner = add("inner", outer, POLICIES "/eager.so");
    require(catapults_schedvar_register("connections", &connections) == 0);
    catapults_t threads[8];
    for (int i = 0; i < 8; i++)
        threads[i] = spawn(i % 2 ? outer : inner, turn, NULL);
    __atomic_store_n(&connections, 13, __ATOMIC_RELAXED);
    join_all(threads, 8);
    require(strcmp(catapults_scheduler_policy_name(outer), "fifo (built-in)") == 0);
    require(strcmp(catapults_scheduler_policy_name(inner), "eager") == 0);
}

static void the_root_fails(void) {
    begin(3, POLICIES "/hierarchy.so");
    require(catapults_schedvar_register("connections", &connections) == 0);
    catapults_t threads[8];
    for (int i = 0; i < 8; i++)
        threads[i] = spawn(i % 2 ? catapults_scheduler_find("high") : NULL, turn, NULL);
    __atomic_store_n(&connections, 13, __ATOMIC_RELAXED);
    join_all(threads, 8);
    require(strcmp(catapults_scheduler_policy_name(catapults_scheduler_root()), "fifo (built-in)") == 0);
}

/* Others go on, and it is asked again when something has happened. */
static void who_dispatches_nothing_is_left_out(void) {
    begin(2, NULL);
    catapults_scheduler_t child = add("child", add("above", NULL, NULL), POLICIES "/shy.so");
    require(catapults_schedvar_register("shy", &shy) == 0);
    __atomic_store_n(&shy, 1, __ATOMIC_RELAXED);
    catapults_t quiet[] = {spawn(child, meet, (void *)0), spawn(child, meet, (void *)0)};
    catapults_t threads[] = {spawn(NULL, turn, NULL), spawn(NULL, turn, NULL)};
    join_all(threads, 2);
    require(atomic_load(&there) == 0);
    __atomic_store_n(&shy, 0, __ATOMIC_RELAXED);
    catapults_t third = spawn(child, meet, (void *)0);
    join_all(quiet, 2);
    require(catapults_join(third, NULL) == 0 && atomic_load(&there) == 3);
    require(strcmp(catapults_scheduler_policy_name(child), "shy") == 0);
}

static void who_dispatches_nothing_for_ever_is_out(void) {
    begin(2, NULL);
    catapults_scheduler_t child = add("child", add("above", NULL, NULL), POLICIES "/shy.so");
    require(catapults_schedvar_register("shy", &shy) == 0);
    __atomic_store_n(&shy, 1, __ATOMIC_RELAXED);
    catapults_t quiet[] = {spawn(child, turn, NULL), spawn(child, turn, NULL)};
    join_all(quiet, 2);
    require(strcmp(catapults_scheduler_policy_name(child), "fifo (built-in)") == 0);
}

struct request {
    catapults_int bytesleft;
};

static void *yield_on(void *argument) {
    while (!atomic_load(&stop))
        catapults_yield();
    return argument;
}

static void *return_it(void *argument) { return argument; }

/* Four that have more bytes left keep both processors from the fifth. */
static void a_policy_that_lets_a_thread_starve_is_out(void) {
    static struct request many = {7}, few = {1};
    alarm(HANGS);
    require(catapults_init(&(struct catapults_options){.processors = 2, .starvation_limit = 20 * MS}) == 0);
    catapults_scheduler_t child = add("child", NULL, POLICIES "/bytes.so");
    require(catapults_threadvar_register("bytesleft", struct request, bytesleft) == 0);
    catapults_t threads[5];
    for (int i = 0; i < 4; i++)
        threads[i] = spawn(child, yield_on, &many);
    threads[4] = spawn(child, return_it, &few);
    require(catapults_join(threads[4], NULL) == 0);
    require(strcmp(catapults_scheduler_policy_name(child), "fifo (built-in)") == 0);
    atomic_store(&stop, true);
    join_all(threads, 4);
}

static catapults_mutex_t mutex = CATAPULTS_MUTEX_INITIALIZER;

static void *lock_and_wait(void *argument) {
    catapults_mutex_lock(&mutex);
    catapults_port_t nobody = CATAPULTS_PORT_INITIALIZER;
    struct catapults_message *message;
    catapults_port_receive(&nobody, &message);
    return argument;
}

static void wait_for_each_other(void) {
    begin(3, NULL);
    catapults_scheduler_t child = add("child", NULL, NULL);
    catapults_t threads[] = {spawn(child, lock_and_wait, NULL), spawn(child, lock_and_wait, NULL)};
    join_all(threads, 2);
}

static void a_deadlock_is_reported(void **state) {
    (void)state;
    struct child child = run_child(wait_for_each_other);
    assert_exit(&child, EXIT_FAILURE);
    assert_reported(&child, "deadlock");
}

/* ---- Time -------------------------------------------------------------------------------------------------------- */

static void *compute(void *argument) {
    atomic_bool never = false;
    compute_until(&never, 40 * MS);
    return argument;
}

/* Both at the same time, or one after the other: what is under the scheduler has run for so long. */
static void what_runs_at_once_is_charged_together(void) {
    begin(2, NULL);
    catapults_account();
    catapults_scheduler_t above = add("above", NULL, NULL), child = add("child", above, NULL);
    int64_t began = catapults_now();
    catapults_t threads[] = {spawn(child, compute, NULL), spawn(child, compute, NULL), spawn(child, compute, NULL)};
    catapults_sleep(MS);
    require(catapults_scheduler_consumed(child) > 0); /* while they run */
    join_all(threads, 3);
    int64_t consumed = catapults_scheduler_consumed(child), higher = catapults_scheduler_consumed(above);
    require(consumed >= 120 * MS && higher >= consumed - MS);
    require(consumed <= 2 * (catapults_now() - began) && higher <= consumed + MS);
    require(catapults_consumed(catapults_self()) < consumed);
}

/* ---- The end ----------------------------------------------------------------------------------------------------- */

static void it_ends_with_the_last_thread(void) {
    begin(2, NULL);
    catapults_scheduler_t child = add("child", NULL, NULL);
    for (int i = 0; i < 5; i++)
        require(catapults_detach(spawn(child, sleep_often, NULL)) == 0);
    catapults_exit(NULL);
}

static void a_child_has_one(void) {
    begin(2, NULL);
    catapults_scheduler_t child = add("child", NULL, POLICIES "/eager.so");
    catapults_t threads[4];
    for (int i = 0; i < 4; i++)
        threads[i] = spawn(child, turn, NULL);
    for (int i = 0; i < 5; i++) {
        pid_t pid = catapults_fork();
        require(pid >= 0);
        if (pid == 0) {
            catapults_t own[] = {spawn(child, turn, NULL), spawn(child, turn, NULL)};
            join_all(own, 2);
            require(catapults_scheduler_remove(child) == 0);
            _exit(7);
        }
        int status;
        require(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 7);
    }
    join_all(threads, 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        child_test(what_is_under_one_has_all_processors),
        child_test(processors_that_come_are_used),
        child_test(who_is_bound_keeps_nobody_from_the_others),
        child_test(who_is_urgent_above_takes_a_processor),
        child_test(values_are_those_of_the_scheduler),
        child_test(turns_end_on_all),
        child_test(who_runs_elsewhere_can_be_suspended),
        child_test(schedulers_come_and_go),
        child_test(whole_branches_come_and_go),
        child_test(threads_change_their_scheduler),
        child_test(policies_are_replaced),
        child_test(only_the_policy_that_fails_is_out),
        child_test(the_root_fails),
        child_test(who_dispatches_nothing_is_left_out),
        child_test(who_dispatches_nothing_for_ever_is_out),
        child_test(a_policy_that_lets_a_thread_starve_is_out),
        cmocka_unit_test(a_deadlock_is_reported),
        child_test(what_runs_at_once_is_charged_together),
        child_test(it_ends_with_the_last_thread),
        child_test(a_child_has_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
