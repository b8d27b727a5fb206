/*
 * Policies with nodes that are replaced: by the built-in policy after a broken guard, a handler that runs for too long
 * or a thread that is left out, and by another policy on request, while threads run. Also where policies with nodes are
 * refused.
 */
#include "nodes_test.h"

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

static catapults_cond_t cond = CATAPULTS_COND_INITIALIZER;
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
#if defined(ACTIVATED) /* see nodes_replaced_activated.c */
    setenv("CATAPULTS_ACTIVATIONS", "1", 1);
#endif
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_policy_that_lets_a_thread_wait_is_out),
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
