/*
 * Policies with nodes: an instance for each processor. Threads are placed, stolen, and placed anew when their processor
 * goes; who runs where is what the instances say.
 */
#include <errno.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>

#include "catapults.h"
#include "sa.h"
#include "support/child.h"
#include "support/cpus.h"

#define PLACES POLICIES "/places.so"
#define FIFO POLICIES "/per_processor_fifo.so"
#define LEAST_LOADED POLICIES "/least_loaded.so"

enum { MS = 1000000, THREADS = 12 };

static catapults_int at, broken, given = 1;

static void begin(int processors, const char *policy) {
    alarm(HANGS);
    require(catapults_init(&(struct catapults_options){.processors = processors, .policy = policy}) == 0);
    require(catapults_schedvar_register("at", &at) == (strcmp(policy, PLACES) == 0 ? 0 : ENOENT));
    catapults_schedvar_register("broken", &broken);
    catapults_schedvar_register("given", &given);
}

static void begin_variables(void) {
    require(catapults_schedvar_register("at", &at) == 0 && catapults_schedvar_register("broken", &broken) == 0 &&
            catapults_schedvar_register("given", &given) == 0);
}

static catapults_t spawn(void *(*start)(void *), void *argument) {
    catapults_t thread;
    require(catapults_create(&thread, NULL, start, argument) == 0);
    return thread;
}

static void join_all(catapults_t *threads, int count) {
    for (int i = 0; i < count; i++)
        require(catapults_join(threads[i], NULL) == 0);
}

static void set(catapults_int *variable, catapults_int value) { __atomic_store_n(variable, value, __ATOMIC_RELAXED); }

#if defined(ACTIVATED) /* a processor has many of them there */
__attribute__((noipa)) static pid_t kernel_thread(void) { return sa_self()->sa_cpu; }
static pid_t first_kernel_thread(void) { return 0; }
#else
static pid_t first_kernel_thread(void) { return getpid(); }
__attribute__((noipa)) static pid_t kernel_thread(void) { return (pid_t)syscall(SYS_gettid); }
#endif

/* ---- Where threads run ------------------------------------------------------------------------------------------- */

static atomic_int there;

/* None of them lets another run. */
static void *meet(void *argument) {
    atomic_fetch_add(&there, 1);
    while (atomic_load(&there) < 3)
        ;
    return argument;
}

static void meet_all(void) {
    catapults_t threads[] = {spawn(meet, NULL), spawn(meet, NULL)};
    meet(NULL);
    join_all(threads, 2);
}

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

static catapults_mutex_t mutex = CATAPULTS_MUTEX_INITIALIZER;
static catapults_cond_t cond = CATAPULTS_COND_INITIALIZER;
static int counter, round_of;

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

static atomic_int spun[6];
static atomic_bool spin_on = true;

/* Without any call of the runtime. */
static void *spin(void *argument) {
    while (atomic_load_explicit(&spin_on, memory_order_relaxed))
        atomic_fetch_add_explicit((atomic_int *)argument, 1, memory_order_relaxed);
    return NULL;
}

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

static void *turn(void *argument) {
    for (int i = 0; i < 500; i++)
        catapults_yield();
    return argument;
}

static void who_is_elsewhere_cannot_be_next(void) {
    given = 0;
    begin(2, PLACES);
    set(&at, 1);
    catapults_t thread = spawn(turn, NULL);
    require(catapults_yield_to(thread) == EAGAIN);
    require(catapults_join(thread, NULL) == 0);
}

/* ---- Processors that come and go --------------------------------------------------------------------------------- */

static void *come_and_go(void *argument) {
    unsigned seed = (unsigned)(uintptr_t)argument;
    for (int i = 0; i < 200; i++) {
        switch (rand_r(&seed) % 4) {
        case 0:
            catapults_sleep(rand_r(&seed) % 50000);
            break;
        case 1:
            catapults_yield();
            break;
        case 2:
            require(catapults_mutex_lock(&mutex) == 0);
            counter++;
            catapults_yield();
            require(catapults_mutex_unlock(&mutex) == 0);
            break;
        default:
            for (int j = 0; j < 1000; j++)
                atomic_fetch_add_explicit(&spun[0], 1, memory_order_relaxed);
        }
    }
    return argument;
}

static void processors(const char *policy) {
    begin(2, policy);
    for (int round = 0; round < 20; round++) {
        int count = round * 7 % 5 + 1;
        catapults_t threads[THREADS];
        for (int i = 0; i < THREADS; i++) {
            set(&at, i % 5);
            threads[i] = spawn(come_and_go, (void *)(uintptr_t)(round * THREADS + i + 1));
        }
        catapults_t suspended = threads[round % THREADS];
        catapults_suspend(suspended); /* if it has not ended */
        require(catapults_set_processors(count) == 0 && catapults_processors() == count);
        catapults_sleep(500000);
        require(catapults_set_processors(count % 5 + 1) == 0);
        catapults_resume(suspended);
        join_all(threads, THREADS);
        require(catapults_threads_total() == 1 && catapults_threads_suspended() == 0);
    }
    require(catapults_set_processors(0) == EINVAL && catapults_set_processors(1000) == EINVAL);
    require(strcmp(catapults_policy_name(), "fifo (built-in)") != 0);
}

static void processors_come_and_go(void) { processors(PLACES); }
static void processors_come_and_go_with_queues(void) { processors(FIFO); }
static void processors_come_and_go_with_loads(void) { processors(LEAST_LOADED); }

/* Whoever asks for that may be on one that goes. */
static void *leave(void *argument) {
    require(catapults_set_processors(1) == 0);
    require(catapults_set_processors(3) == 0);
    return argument;
}

static void who_is_there_is_placed_anew(void) {
    given = 0;
    begin(3, PLACES);
    set(&at, 2);
    for (int i = 0; i < 50; i++) {
        catapults_t spinning = spawn(spin, &spun[0]);
        catapults_t sleeping = spawn(turn, NULL);
        require(catapults_suspend(sleeping) == 0);
        require(catapults_join(spawn(leave, NULL), NULL) == 0);
        require(catapults_resume(sleeping) == 0);
        atomic_store(&spin_on, false);
        require(catapults_join(spinning, NULL) == 0 && catapults_join(sleeping, NULL) == 0);
        atomic_store(&spin_on, true);
    }
    require(strcmp(catapults_policy_name(), "places") == 0);
}

static void await_processors(int count) {
    for (int64_t end = catapults_now() + 20000 * (int64_t)MS; catapults_processors() != count && catapults_now() < end;)
        catapults_sleep(MS);
    require(catapults_processors() == count);
}

static void *say_where(void *argument) {
    *(pid_t *)argument = kernel_thread();
    return NULL;
}

static bool runs_on_first(void) {
    pid_t place;
    set(&at, 1);
    catapults_t thread = spawn(say_where, &place);
    set(&at, 0);
    require(catapults_join(thread, NULL) == 0);
    return place == first_kernel_thread();
}

/* The policy is told: it places nothing on a node that has departed, and places again on one that has arrived. */
static void nodes_go_and_come_with_cpus(void) {
    cpu_set_t all, one;
    cpus_find(&all, &one);
    given = 0;
    begin(CATAPULTS_PROCESSORS_ALL, PLACES);
    int most = catapults_processors();
    for (int i = 0; i < 3; i++) {
        require(!runs_on_first());
        cpus_allow(&one);
        await_processors(1);
        require(runs_on_first());
        cpus_allow(&all);
        await_processors(most);
    }
    require(strcmp(catapults_policy_name(), "places") == 0);
}

static void one_stays_one(void) {
    begin(1, PLACES);
    catapults_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        threads[i] = spawn(come_and_go, (void *)(uintptr_t)(i + 1));
    require(catapults_threads_total() == THREADS + 1);
    join_all(threads, THREADS);
    require(catapults_set_processors(1) == 0 && catapults_set_processors(2) == ENOTSUP && catapults_processors() == 1);
    require(strcmp(catapults_policy_name(), "places") == 0);
}

static void a_child_has_one(void) {
    begin(3, PLACES);
    catapults_t threads[4];
    for (int i = 0; i < 4; i++)
        threads[i] = spawn(turn, NULL);
    for (int i = 0; i < 5; i++) {
        pid_t pid = catapults_fork();
        require(pid >= 0);
        if (pid == 0) {
            require(strcmp(catapults_policy_name(), "places") == 0 && catapults_processors() == 1);
            catapults_t child = spawn(turn, NULL);
            catapults_yield();
            require(catapults_join(child, NULL) == 0 && catapults_threads_total() == 1);
            _exit(7);
        }
        int status;
        require(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 7);
    }
    join_all(threads, 4);
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

/* ---- Policies that have to go ------------------------------------------------------------------------------------ */

/* `broken`: what the policy does wrong from the middle on; all threads go on, on all processors. */
static void break_it(int processors, catapults_int how) {
    given = 0;
    if (how == 2 || how == 4)
        at = 0;
    alarm(HANGS);
    require(catapults_init(&(struct catapults_options){
                .processors = processors, .policy = PLACES, .handler_limit = 50 * MS}) == 0);
    begin_variables();
    catapults_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        set(&at, how == 2 ? 0 : i % 4);
        threads[i] = spawn(come_and_go, (void *)(uintptr_t)(i + 1));
    }
    bool suspended = catapults_suspend(threads[3]) == 0;
    set(&broken, how);
    catapults_sleep(MS);
    if (how == 5)
        require(catapults_set_processors(1) == 0 && catapults_set_processors(3) == 0);
    require(!suspended || catapults_resume(threads[3]) == 0);
    while (strcmp(catapults_policy_name(), "fifo (built-in)") != 0) {
        catapults_t two[] = {spawn(turn, NULL), spawn(turn, NULL)}; /* one of them waits, and can be stolen */
        join_all(two, 2);
    }
    join_all(threads, THREADS);
    if (processors > 1 && how != 5) {
        require(catapults_set_processors(3) == 0);
        meet_all();
    }
    require(catapults_policy_replace(NULL, POLICIES "/turns.so") == 0);
    require(catapults_join(spawn(turn, NULL), NULL) == 0);
}

static void in_dispatch(void) { break_it(4, 1); }
static void in_dispatch_on_one(void) { break_it(1, 1); }
static void in_steal(void) { break_it(4, 2); }
static void in_switch_out(void) { break_it(4, 3); }
static void in_departure(void) { break_it(3, 5); }

static atomic_bool done;

static void *yield_on(void *argument) {
    while (!atomic_load(&done))
        catapults_yield();
    return argument;
}

static void *be_forgotten(void *argument) {
    set(&broken, 6);
    catapults_yield();
    return argument;
}

/* The others are dispatched, at its node as well. */
static void one_is_left_out(int processors) {
    given = 0;
    alarm(HANGS);
    require(catapults_init(&(struct catapults_options){
                .processors = processors, .policy = PLACES, .starvation_limit = 20 * MS}) == 0);
    begin_variables();
    catapults_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        set(&at, i % 2);
        threads[i] = spawn(yield_on, NULL);
    }
    for (int i = 0; i < 20; i++)
        catapults_sleep(5 * MS); /* all have their turns */
    require(strcmp(catapults_policy_name(), "places") == 0);
    catapults_t forgotten = spawn(be_forgotten, NULL);
    while (strcmp(catapults_policy_name(), "fifo (built-in)") != 0)
        catapults_sleep(MS);
    atomic_store(&done, true);
    join_all(threads, THREADS);
    require(catapults_join(forgotten, NULL) == 0);
}

static void on_one_node(void) { one_is_left_out(1); }
static void on_two_nodes(void) { one_is_left_out(2); }

static void it_goes(void (*body)(void), const char *why);

static void a_policy_that_lets_a_thread_wait_is_out(void **state) {
    (void)state;
    it_goes(on_one_node, "was ready for longer than 20 ms, and only others were dispatched");
    it_goes(on_two_nodes, "was ready for longer than 20 ms, and only others were dispatched");
}

static void it_goes(void (*body)(void), const char *why) {
    struct child child = run_child(body);
    assert_exit(&child, EXIT_SUCCESS);
    assert_reported(&child, why);
}

static void a_policy_that_breaks_a_guard_is_out(void **state) {
    (void)state;
    it_goes(in_dispatch, "`next` is empty in `next => processors`");
    it_goes(in_dispatch_on_one, "`next` is empty in `next => processors`");
    it_goes(in_steal, "`ready` is empty in `ready => n`");
    it_goes(in_switch_out, "`ready` is empty in `ready => spare`");
    it_goes(in_departure, "in `processors => next`");
}

static void for_too_long(void) { break_it(3, 4); }

static void a_handler_that_runs_for_too_long_is_left(void **state) {
    (void)state;
    it_goes(for_too_long, "the handler of `dispatch` in places.sched:36 ran for longer than 50 ms");
}

/* ---- Other policies in the place of one -------------------------------------------------------------------------- */

static catapults_int refuses;

/* From one kind to the other and back, whatever threads do meanwhile. */
static void replace_it(int processors) {
    static const char *const files[] = {PLACES, POLICIES "/turns.so", FIFO, LEAST_LOADED, NULL, PLACES, FIFO};
    static const char *const names[] = {"places",          "turns",  "per_processor_fifo", "least_loaded",
                                        "fifo (built-in)", "places", "per_processor_fifo"};
    begin(processors, FIFO);
    for (int round = 0; round < 28; round++) {
        catapults_t threads[THREADS];
        for (int i = 0; i < THREADS; i++)
            threads[i] = spawn(come_and_go, (void *)(uintptr_t)(round * THREADS + i + 1));
        catapults_t suspended = threads[round % THREADS];
        bool is_suspended = catapults_suspend(suspended) == 0;
        if (processors > 1 && round % 3 == 0)
            require(catapults_set_processors(round % 4 + 1) == 0);
        catapults_sleep(round % 5 * 200000);
        set(&at, round % processors);
        require(catapults_policy_replace(NULL, files[round % 7]) == 0);
        require(strcmp(catapults_policy_name(), names[round % 7]) == 0);
        if (processors > 1 && round % 4 == 0)
            require(catapults_set_processors(processors) == 0);
        if (is_suspended)
            catapults_resume(suspended);
        join_all(threads, THREADS);
        require(catapults_threads_total() == 1 && catapults_threads_suspended() == 0);
    }
}

/* Each thread has what it came with, whatever was replaced, and wherever it was meanwhile. */
struct marked {
    catapults_int mark;
};

static void *come_and_go_marked(void *argument) {
    (void)argument;
    return come_and_go((void *)(uintptr_t)1);
}

static void replace_what_keeps(int processors) {
    static const char *const files[] = {POLICIES "/keeps_too.so", POLICIES "/keeps.so"};
    static bool checks;
    static struct marked marks[THREADS];
    alarm(HANGS);
    require(catapults_init(&(struct catapults_options){.processors = processors, .policy = files[1]}) == 0);
    require(catapults_threadvar_register("mark", struct marked, mark) == 0);
    require(catapults_schedvar_register_bool("checks", &checks) == 0);
    for (int round = 0; round < 20; round++) {
        catapults_t threads[THREADS];
        checks = false;
        for (int i = 0; i < THREADS; i++) {
            marks[i].mark = round * THREADS + i + 1;
            struct catapults_attributes attributes = {.object = &marks[i]};
            require(catapults_create(&threads[i], &attributes, come_and_go_marked, &marks[i]) == 0);
        }
        catapults_suspend(threads[round % THREADS]);
        checks = true;
        for (int i = 0; i < 4; i++) {
            require(catapults_policy_replace(NULL, files[i % 2]) == 0);
            catapults_sleep(i * 50000);
        }
        catapults_resume(threads[round % THREADS]);
        join_all(threads, THREADS);
        checks = false;
    }
}

static void what_is_kept_is_there_on_one(void) { replace_what_keeps(1); }
static void what_is_kept_is_there_on_three(void) { replace_what_keeps(3); }

static void policies_are_replaced_on_one(void) { replace_it(1); }
static void policies_are_replaced_on_four(void) { replace_it(4); }

/* It runs on another processor, and makes no call. */
static void who_spins_goes_on(void) {
    begin(2, FIFO);
    catapults_t thread = spawn(spin, &spun[0]);
    while (atomic_load(&spun[0]) == 0)
        catapults_yield();
    static const char *const files[] = {POLICIES "/turns.so", PLACES, NULL, LEAST_LOADED};
    for (int i = 0; i < 4; i++) {
        require(catapults_policy_replace(NULL, files[i]) == 0);
        for (int before = atomic_load(&spun[0]); before == atomic_load(&spun[0]);)
            catapults_yield();
    }
    atomic_store(&spin_on, false);
    require(catapults_join(thread, NULL) == 0);
}

static catapults_mutex_t waits = CATAPULTS_MUTEX_INITIALIZER;
static bool waiting, waited;

static void *wait_for_it(void *argument) {
    require(catapults_mutex_lock(&waits) == 0);
    for (waiting = true; !waited;)
        require(catapults_cond_wait(&cond, &waits) == 0);
    require(catapults_mutex_unlock(&waits) == 0);
    return argument;
}

/* Of the thread that waits, or to say that it need not any longer. */
static bool ask_it(bool whether) {
    require(catapults_mutex_lock(&waits) == 0);
    bool answer = waiting;
    waited = !whether;
    require(catapults_mutex_unlock(&waits) == 0 && catapults_cond_signal(&cond) == 0);
    return answer;
}

/* `dispatch` of the new one breaks a guard, or its `newthread` refuses: then all is as it was. */
static void who_is_refused_stays(int processors, const char *file) {
    begin(processors, file);
    catapults_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        threads[i] = spawn(come_and_go, (void *)(uintptr_t)(i + 1));
    catapults_t other = spawn(wait_for_it, NULL); /* `dispatch` is asked for it, where others run */
    while (!ask_it(true))
        catapults_yield();
    for (int i = 0; i < 10; i++) {
        set(&broken, 1);
        require(catapults_policy_replace(NULL, PLACES) == EAGAIN);
        require(catapults_refusal() && strstr(catapults_refusal(), "`next` is empty"));
        set(&refuses, -1);
        require(catapults_schedvar_register("connections", &refuses) == ENOENT);
        require(catapults_policy_replace(NULL, POLICIES "/bytes.so") == EAGAIN);
        require(strcmp(catapults_refusal(), "too many connections") == 0);
        catapults_sleep(100000);
    }
    ask_it(false);
    require(catapults_join(other, NULL) == 0);
    join_all(threads, THREADS);
    require(catapults_threads_total() == 1 && strcmp(catapults_policy_name(), "fifo (built-in)") != 0);
}

static void nothing_changes_on_one(void) { who_is_refused_stays(1, FIFO); }
static void nothing_changes_on_three(void) { who_is_refused_stays(3, FIFO); }
static void nothing_changes_without_nodes(void) { who_is_refused_stays(3, POLICIES "/turns.so"); }

/* ---- What does not go -------------------------------------------------------------------------------------------- */

/* Where there are others beside it. */
static void ask_for_another(void) {
    require(catapults_init(NULL) == 0);
    catapults_scheduler_t one;
    require(catapults_scheduler_add(&one, &(struct catapults_scheduler_attributes){.name = "one"}) == 0);
    require(catapults_policy_replace(NULL, PLACES) == ENOTSUP);
    require(catapults_policy_replace(one, PLACES) == ENOTSUP);
}

static void ask_for_one_in_its_place(void) {
    require(catapults_init(&(struct catapults_options){.policy = FIFO}) == 0);
    require(catapults_scheduler_add(NULL, &(struct catapults_scheduler_attributes){.name = "one"}) == 0);
    require(catapults_policy_replace(NULL, POLICIES "/turns.so") == ENOTSUP);
    require(catapults_policy_replace(NULL, PLACES) == ENOTSUP);
}

static void add_one_with_nodes(void) {
    require(catapults_init(NULL) == 0);
    struct catapults_scheduler_attributes attributes = {.name = "another", .policy = PLACES};
    require(catapults_scheduler_add(NULL, &attributes) == ENOTSUP);
}

static void what_does_not_go_is_said(void **state) {
    (void)state;
    struct child child = run_child(ask_for_another);
    assert_exit(&child, EXIT_SUCCESS);
    assert_reported(&child, "it can only be that of the root");
    child = run_child(ask_for_one_in_its_place);
    assert_exit(&child, EXIT_SUCCESS);
    child = run_child(add_one_with_nodes);
    assert_exit(&child, EXIT_SUCCESS);
    assert_reported(&child, "it can only be that of the root");
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
        cmocka_unit_test(a_policy_that_lets_a_thread_wait_is_out),
        child_test(they_wake_each_other),
        child_test(they_wake_each_other_and_are_stolen),
        child_test(they_wake_each_other_in_queues),
        child_test(threads_are_preempted_on_all),
        child_test(threads_are_preempted_and_stolen),
        child_test(who_spins_elsewhere_can_be_suspended),
        child_test(who_is_elsewhere_cannot_be_next),
        child_test(processors_come_and_go),
        child_test(processors_come_and_go_with_queues),
        child_test(processors_come_and_go_with_loads),
        child_test(who_is_there_is_placed_anew),
        child_test(nodes_go_and_come_with_cpus),
        child_test(one_stays_one),
        child_test(a_child_has_one),
        cmocka_unit_test(a_policy_that_breaks_a_guard_is_out),
        cmocka_unit_test(a_handler_that_runs_for_too_long_is_left),
        child_test(what_is_kept_is_there_on_one),
        child_test(what_is_kept_is_there_on_three),
        child_test(policies_are_replaced_on_one),
        child_test(policies_are_replaced_on_four),
        child_test(who_spins_goes_on),
        child_test(nothing_changes_on_one),
        child_test(nothing_changes_on_three),
        child_test(nothing_changes_without_nodes),
        cmocka_unit_test(what_does_not_go_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
