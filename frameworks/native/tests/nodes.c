/*
 * Policies with nodes, that is an instance for each processor: where threads are placed and stolen, how they wake and
 * preempt each other across nodes, and what they are charged with.
 */
#include <time.h>

#include "nodes_test.h"

/* ---- Where threads run ------------------------------------------------------------------------------------------- */

static void threads_are_placed_in_turn(void) {
    begin(3, FIFO);
    meet_all();
}

static void threads_are_placed_where_the_least_is_to_be_done(void) {
    begin(3, LEAST_LOADED);
    meet_all();
}

/* All are placed on one node. */
static void who_has_nothing_to_do_steals(void) {
    begin(3, PLACES);
    meet_all();
}

static void many_are_stolen_at_once(void) {
    given = 100;
    begin(3, PLACES);
    meet_all();
}

static void *stay(void *argument) {
    pid_t mine = 0;
    for (int i = 0; i < 300; i++) {
        if (i % 10 == 0)
            catapults_sleep(1000);
        else
            catapults_yield();
        require(mine == 0 || kernel_thread() == mine);
        mine = kernel_thread();
    }
    *(pid_t *)argument = mine;
    return NULL;
}

/* Nobody is asked for threads. */
static void who_is_placed_stays(void) {
    given = 0;
    begin(3, PLACES);
    catapults_t threads[9];
    pid_t places[9];
    for (int i = 0; i < 9; i++) {
        set(&at, i % 3);
        threads[i] = spawn(stay, &places[i]);
    }
    join_all(threads, 9);
    for (int i = 0; i < 9; i++)
        for (int j = 0; j < 9; j++)
            require((places[i] == places[j]) == (i % 3 == j % 3));
}

/* Whatever the policy says. */
static void threads_stay_where_they_are_bound_to(void) {
    begin(3, PLACES);
    catapults_t threads[9];
    pid_t places[9];
    for (int i = 0; i < 9; i++)
        require(catapults_create(&threads[i], &(struct catapults_attributes){.processors = 1u << i % 3}, stay,
                                 &places[i]) == 0);
    join_all(threads, 9);
    for (int i = 0; i < 9; i++)
        for (int j = 0; j < 9; j++)
            require((places[i] == places[j]) == (i % 3 == j % 3));
    for (int i = 0; i < 20; i++) {
        require(catapults_setaffinity(catapults_self(), 1u << i % 3) == 0);
        require(kernel_thread() == places[i % 3]);
    }
}

static atomic_bool parked;

static void *stay_behind(void *argument) {
    pid_t mine = kernel_thread();
    while (!atomic_load(&parked))
        catapults_yield();
    for (int i = 0; i < 100; i++) {
        catapults_sleep(10000);
        require(kernel_thread() == mine);
    }
    return argument;
}

/* Though the processor has no node any more. */
static void who_is_bound_to_one_that_goes_stays(void) {
    begin(3, FIFO);
    catapults_t threads[4];
    for (int i = 0; i < 4; i++)
        require(catapults_create(&threads[i], &(struct catapults_attributes){.processors = 2u << i % 2}, stay_behind,
                                 NULL) == 0);
    catapults_sleep(5 * MS);
    require(catapults_set_processors(1) == 0);
    atomic_store(&parked, true);
    join_all(threads, 4);
}

static atomic_bool has_run;

static void *run_once(void *argument) {
    *(pid_t *)argument = kernel_thread();
    atomic_store(&has_run, true);
    return NULL;
}

/* A policy that gives away what the thief may not run: that is given back, and others are asked for. */
static void who_may_not_run_there_is_not_stolen(void) {
    begin(2, PLACES);
    catapults_t bound[5], thread;
    pid_t places[5], place;
    require(catapults_setaffinity(catapults_self(), 1) == 0);
    catapults_preemption_hold();
    struct catapults_attributes here = {.processors = 1};
    for (int i = 0; i < 5; i++)
        require(catapults_create(&bound[i], &here, stay, &places[i]) == 0);
    thread = spawn(run_once, &place); /* behind them */
    while (!atomic_load(&has_run))
        ;
    catapults_preemption_release();
    require(place != kernel_thread());
    join_all(bound, 5);
    require(catapults_join(thread, NULL) == 0);
    for (int i = 0; i < 5; i++)
        require(places[i] == kernel_thread());
}

/* ---- Across nodes ------------------------------------------------------------------------------------------------ */

static catapults_cond_t cond = CATAPULTS_COND_INITIALIZER;
static int round_of;

static void *wait_for_turns(void *argument) {
    int mine = (int)(intptr_t)argument;
    for (int i = 0; i < 100; i++) {
        require(catapults_mutex_lock(&mutex) == 0);
        while (round_of != mine)
            require(catapults_cond_wait(&cond, &mutex) == 0);
        counter++;
        round_of = (mine + 1) % THREADS;
        require(catapults_cond_broadcast(&cond) == 0);
        require(catapults_mutex_unlock(&mutex) == 0);
    }
    return argument;
}

static void in_turns(const char *policy, catapults_int given_at_once) {
    given = given_at_once;
    begin(4, policy);
    catapults_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        set(&at, i % 4);
        threads[i] = spawn(wait_for_turns, (void *)(intptr_t)i);
    }
    for (int i = 0; i < THREADS; i++) {
        void *result;
        require(catapults_join(threads[i], &result) == 0 && result == (void *)(intptr_t)i);
    }
    require(counter == 100 * THREADS && catapults_threads_total() == 1);
    require(strcmp(catapults_policy_name(), "fifo (built-in)") != 0);
}

static void they_wake_each_other(void) { in_turns(PLACES, 0); }
static void they_wake_each_other_and_are_stolen(void) { in_turns(PLACES, 2); }
static void they_wake_each_other_in_queues(void) { in_turns(FIFO, 0); }

static void preempted(catapults_int given_at_once) {
    given = given_at_once;
    begin(2, PLACES);
    catapults_t threads[6];
    for (int i = 0; i < 6; i++) {
        set(&at, i % 2);
        threads[i] = spawn(spin, &spun[i]);
    }
    for (bool all = false; !all;) {
        catapults_sleep(5 * MS);
        all = true;
        for (int i = 0; i < 6; i++)
            all = all && atomic_load(&spun[i]) > 0;
    }
    atomic_store(&spin_on, false);
    join_all(threads, 6);
    require(strcmp(catapults_policy_name(), "places") == 0);
}

static void threads_are_preempted_on_all(void) { preempted(0); }
static void threads_are_preempted_and_stolen(void) { preempted(1); }

/* It stops, though it makes no call. */
static void who_spins_elsewhere_can_be_suspended(void) {
    begin(2, FIFO);
    catapults_t thread = spawn(spin, &spun[0]);
    while (atomic_load(&spun[0]) == 0)
        ;
    for (int i = 0; i < 5; i++) {
        require(catapults_suspend(thread) == 0);
        int before;
        do {
            before = atomic_load(&spun[0]);
            catapults_sleep(20 * MS);
        } while (before != atomic_load(&spun[0]));
        require(catapults_threads_suspended() == 1 && catapults_threads_total() == 2);
        require(catapults_resume(thread) == 0);
        while (before == atomic_load(&spun[0]))
            catapults_yield();
    }
    atomic_store(&spin_on, false);
    require(catapults_join(thread, NULL) == 0);
}

static void who_is_elsewhere_cannot_be_next(void) {
    given = 0;
    begin(2, PLACES);
    set(&at, 1);
    catapults_t thread = spawn(turn, NULL);
    require(catapults_yield_to(thread) == EAGAIN);
    require(catapults_join(thread, NULL) == 0);
}

/* ---- Accounting -------------------------------------------------------------------------------------------------- */

static int64_t processor_time(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static int turns;

/* In so many turns, each of which is on one kernel thread. */
static void *compute(void *milliseconds) {
    for (int i = 0; i < turns; i++) {
        for (int64_t before = processor_time(); processor_time() < before + (intptr_t)milliseconds * MS / turns;)
            ;
        catapults_yield();
    }
    return (void *)(intptr_t)(catapults_consumed(catapults_self()) / 1000);
}

enum { COMPUTING = 4 };

static void begin_to_account(int processors, enum catapults_accounting way) {
    alarm(HANGS);
    require(catapults_init(&(struct catapults_options){.processors = processors, .policy = FIFO, .accounting = way}) ==
            0);
    catapults_account();
}

/* What each is charged with, in microseconds, and in `own` what it has used. */
static void compute_on_all(int64_t *consumed, int64_t *own) {
    catapults_t threads[COMPUTING];
    for (intptr_t i = 0; i < COMPUTING; i++) {
        intptr_t milliseconds = i < COMPUTING / 2 ? 150 : 300;
        threads[i] = spawn(compute, (void *)milliseconds);
        own[i] = milliseconds * 1000;
    }
    for (int i = 0; i < COMPUTING; i++) {
        void *microseconds;
        require(catapults_join(threads[i], &microseconds) == 0);
        consumed[i] = (intptr_t)microseconds;
    }
}

static void stamp_times(int processors) {
    turns = 10;
    begin_to_account(processors, CATAPULTS_ACCOUNTING_TIME_STAMPS);
    int64_t start = catapults_now(), sum = 0, consumed[COMPUTING], own[COMPUTING];
    compute_on_all(consumed, own);
    for (int i = 0; i < COMPUTING; i++) {
        require(consumed[i] >= own[i]);
        sum += consumed[i];
    }
    require(sum <= (catapults_now() - start) / 1000 * processors);
}

static void time_stamps_on_one(void) { stamp_times(1); }
static void time_stamps_on_two(void) { stamp_times(2); }

static bool is_half_to_one_and_a_half(int64_t value, int64_t of) { return value >= of / 2 && value <= of * 3 / 2; }

/* A sample charges whoever runs with all the time since the one before. At each change of turns some of that was
 * another's; so there are few. On a CPU that others use, too, it may be much, and is measured again. */
static void samples_on_two(void) {
    turns = 2;
    begin_to_account(2, CATAPULTS_ACCOUNTING_STATISTICAL);
    bool found;
    do {
        int64_t sum = 0, all = 0, consumed[COMPUTING], own[COMPUTING];
        compute_on_all(consumed, own);
        found = true;
        for (int i = 0; i < COMPUTING; i++) {
            found &= is_half_to_one_and_a_half(consumed[i], own[i]);
            sum += consumed[i];
            all += own[i];
        }
        found &= sum >= all * 3 / 4 && sum <= all * 5 / 4;
    } while (!found);
}

int main(void) {
#if defined(ACTIVATED) /* see nodes_activated.c */
    setenv("CATAPULTS_ACTIVATIONS", "1", 1);
#endif
    const struct CMUnitTest tests[] = {
        child_test(threads_are_placed_in_turn),
        child_test(threads_are_placed_where_the_least_is_to_be_done),
        child_test(who_has_nothing_to_do_steals),
        child_test(many_are_stolen_at_once),
        child_test(who_is_placed_stays),
        child_test(threads_stay_where_they_are_bound_to),
        child_test(who_is_bound_to_one_that_goes_stays),
        child_test(who_may_not_run_there_is_not_stolen),
        child_test(time_stamps_on_one),
        child_test(time_stamps_on_two),
        child_test(samples_on_two),
        child_test(they_wake_each_other),
        child_test(they_wake_each_other_and_are_stolen),
        child_test(they_wake_each_other_in_queues),
        child_test(threads_are_preempted_on_all),
        child_test(threads_are_preempted_and_stolen),
        child_test(who_spins_elsewhere_can_be_suspended),
        child_test(who_is_elsewhere_cannot_be_next),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
