/*
 * Schedulers under a policy with nodes: to each of its instances they are threads, which it places, lets others steal,
 * and loses with its processor.
 */
#include <errno.h>
#include <stdatomic.h>
#include <sys/syscall.h>

#include "catapults.h"
#include "catapults/hierarchy.h"
#include "support/child.h"

#define PLACES POLICIES "/places.so"
#define QUEUES POLICIES "/per_processor_fifo.so"
#define LEAST_LOADED POLICIES "/least_loaded.so"

enum { MS = 1000000 };

static catapults_int at, broken, given = 1;

static void begin(int processors, const char *policy) {
    alarm(HANGS);
    require(catapults_init(&(struct catapults_options){.processors = processors, .policy = policy}) == 0);
    catapults_schedvar_register("at", &at);
    catapults_schedvar_register("broken", &broken);
    catapults_schedvar_register("given", &given);
}

static catapults_scheduler_t add(const char *name, catapults_scheduler_t parent, const char *policy) {
    catapults_scheduler_t scheduler;
    struct catapults_scheduler_attributes attributes = {.name = name, .parent = parent, .policy = policy};
    require(catapults_scheduler_add(&scheduler, &attributes) == 0);
    return scheduler;
}

static catapults_t spawn(catapults_scheduler_t scheduler, void *(*start)(void *), void *argument) {
    catapults_t thread;
    struct catapults_attributes attributes = {.scheduler = scheduler};
    require(catapults_create(&thread, &attributes, start, argument) == 0);
    return thread;
}

static void join_all(const catapults_t *threads, int count) {
    for (int i = 0; i < count; i++)
        require(catapults_join(threads[i], NULL) == 0);
}

static void set(catapults_int *variable, catapults_int value) { __atomic_store_n(variable, value, __ATOMIC_RELAXED); }

__attribute__((noipa)) static pid_t kernel_thread(void) { return (pid_t)syscall(SYS_gettid); }

static void *turn(void *argument) {
    for (int i = 0; i < 1000; i++)
        catapults_yield();
    return argument;
}

/* ---- Where schedulers run ---------------------------------------------------------------------------------------- */

static atomic_int there;

/* None of them lets another run. */
static void *meet(void *argument) {
    atomic_fetch_add(&there, 1);
    while (atomic_load(&there) < 3)
        ;
    return argument;
}

static void meet_under(const char *root) {
    begin(3, root);
    catapults_scheduler_t outer = add("outer", NULL, NULL), inner = add("inner", outer, POLICIES "/turns.so");
    catapults_scheduler_t other = add("other", NULL, POLICIES "/eager.so");
    catapults_scheduler_t under[] = {outer, inner, other, NULL};
    for (int round = 0; round < 40; round++) {
        atomic_store(&there, 0);
        catapults_t threads[3];
        for (int i = 0; i < 3; i++)
            threads[i] = spawn(under[(round + (round % 8 < 4 ? 0 : i)) % 4], meet, NULL);
        join_all(threads, 3);
    }
    require(strcmp(catapults_policy_name(), "fifo (built-in)") != 0);
}

static void what_is_under_one_has_all_processors(void) { meet_under(LEAST_LOADED); }
static void also_in_queues(void) { meet_under(QUEUES); }
static void also_if_all_is_placed_on_one(void) { meet_under(PLACES); } /* the others steal */

static void *stay(void *argument) {
    pid_t place = kernel_thread();
    for (int i = 0; i < 200; i++) {
        catapults_yield();
        require(kernel_thread() == place);
        if (i % 50 == 0)
            catapults_sleep(MS / 10);
    }
    *(pid_t *)argument = place;
    return NULL;
}

/* Nobody may steal, so that a scheduler runs only where the policy has placed it. */
static void the_policy_places_schedulers(void) {
    set(&given, 0);
    begin(3, PLACES);
    pid_t places[2][4];
    catapults_t threads[4];
    for (int i = 0; i < 2; i++) {
        set(&at, i + 1);
        catapults_scheduler_t child = add(i ? "second" : "first", NULL, NULL);
        for (int j = 0; j < 4; j++)
            threads[j] = spawn(child, stay, &places[i][j]);
        join_all(threads, 4);
        for (int j = 1; j < 4; j++)
            require(places[i][j] == places[i][0]);
    }
    require(places[0][0] != places[1][0] && places[0][0] != getpid() && places[1][0] != getpid());
}

/* A scheduler is given what threads are: this one is bound to a processor, which leaves it for nobody. */
static void a_scheduler_is_bound_by_its_value(void) {
    begin(3, LEAST_LOADED);
    pid_t places[8];
    catapults_t threads[8];
    for (int i = 0; i < 2; i++) {
        static const struct catapults_hierarchy_parameter bound[] = {
            {.name = "processor", .type = CATAPULTS_IMPORT_INT, .at_parent = true, .value.integer = 1},
            {.name = "processor", .type = CATAPULTS_IMPORT_INT, .at_parent = true, .value.integer = 2}};
        catapults_scheduler_t child;
        struct catapults_scheduler_attributes attributes = {
            .name = i ? "second" : "first", .parameters = &bound[i], .parameters_count = 1};
        require(catapults_scheduler_add(&child, &attributes) == 0);
        for (int j = 0; j < 4; j++)
            threads[i * 4 + j] = spawn(child, stay, &places[i * 4 + j]);
    }
    join_all(threads, 8);
    for (int j = 0; j < 8; j++)
        require(places[j] == places[j / 4 * 4] && places[j] != getpid());
    require(places[0] != places[4]);
}

/* ---- While it works ---------------------------------------------------------------------------------------------- */

static atomic_bool stop;

static void *compute(void *argument) {
    while (!atomic_load_explicit(&stop, memory_order_relaxed))
        atomic_fetch_add_explicit((atomic_long *)argument, 1, memory_order_relaxed);
    return NULL;
}

/* They give the processor up by nothing but time, and all get some of it. */
static void threads_are_preempted(void) {
    begin(2, PLACES);
    catapults_scheduler_t outer = add("outer", NULL, POLICIES "/turns.so");
    catapults_scheduler_t inner = add("inner", outer, POLICIES "/turns.so"), other = add("other", NULL, NULL);
    catapults_scheduler_t under[] = {outer, inner, other, NULL};
    atomic_long counted[12] = {0};
    catapults_t threads[12];
    for (int i = 0; i < 12; i++)
        threads[i] = spawn(under[i % 4], compute, &counted[i]);
    for (int i = 0; i < 12; i++)
        while (atomic_load(&counted[i]) == 0 && i % 4 != 2)
            catapults_sleep(MS);
    atomic_store(&stop, true);
    join_all(threads, 12);
    require(strcmp(catapults_policy_name(), "places") == 0);
}

static catapults_mutex_t mutex;
static long locked;

static void *do_all(void *argument) {
    unsigned random = (unsigned)(uintptr_t)argument;
    for (int i = 0; i < 200; i++) {
        random = random * 1103515245 + 12345;
        switch (random >> 16 & 3) {
        case 0:
            catapults_yield();
            break;
        case 1:
            catapults_sleep((random >> 18) % 50 * 1000);
            break;
        default:
            require(catapults_mutex_lock(&mutex) == 0);
            long before = locked;
            if (random >> 20 & 1)
                catapults_yield();
            locked = before + 1;
            require(catapults_mutex_unlock(&mutex) == 0);
        }
    }
    return argument;
}

enum { MANY = 24 };

static void spawn_many(catapults_t *threads, catapults_scheduler_t *under, int count) {
    for (int i = 0; i < MANY; i++)
        threads[i] = spawn(under[i % count], do_all, (void *)(uintptr_t)(i + 1));
}

static void work_while_processors_change(const char *root) {
    begin(3, root);
    catapults_scheduler_t outer = add("outer", NULL, POLICIES "/turns.so"), inner = add("inner", outer, NULL);
    catapults_scheduler_t under[] = {outer, inner, add("other", NULL, POLICIES "/eager.so"), NULL};
    catapults_t threads[MANY];
    spawn_many(threads, under, 4);
    for (int i = 0; i < 40; i++) {
        require(catapults_set_processors(1 + i % 5) == 0);
        catapults_sleep(MS / 4);
        set(&at, i % 4);
    }
    join_all(threads, MANY);
    require(catapults_set_processors(2) == 0);
    spawn_many(threads, under, 4);
    join_all(threads, MANY);
    require(strcmp(catapults_policy_name(), "fifo (built-in)") != 0);
}

static void processors_come_and_go(void) { work_while_processors_change(PLACES); }
static void processors_come_and_go_with_queues(void) { work_while_processors_change(QUEUES); }
static void processors_come_and_go_with_loads(void) { work_while_processors_change(LEAST_LOADED); }

static void *come_and_go(void *argument) {
    catapults_scheduler_t scheduler = argument;
    for (int i = 0; i < 60; i++) {
        require(catapults_scheduler_attach(i % 2 ? catapults_scheduler_root() : scheduler) == 0);
        require(catapults_scheduler_self() == (i % 2 ? catapults_scheduler_root() : scheduler));
        catapults_yield();
    }
    return NULL;
}

static void threads_change_their_scheduler(void) {
    for (int processors = 1; processors <= 3; processors += 2) {
        pid_t pid = fork();
        require(pid >= 0);
        if (pid == 0) {
            begin(processors, LEAST_LOADED);
            catapults_scheduler_t child = add("child", NULL, POLICIES "/turns.so");
            catapults_t threads[8];
            for (int i = 0; i < 8; i++)
                threads[i] = spawn(i % 2 ? child : NULL, come_and_go, child);
            join_all(threads, 8);
            require(catapults_scheduler_remove(child) == 0);
            while (catapults_threads_total() > 1) /* all that it was to the root ends, in turn */
                catapults_yield();
            _exit(7);
        }
        int status;
        require(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 7);
    }
}

static void schedulers_come_and_go(void) {
    begin(3, QUEUES);
    catapults_t other = spawn(NULL, turn, NULL);
    for (int i = 0; i < 50; i++) {
        catapults_scheduler_t one = add("one", NULL, POLICIES "/turns.so"), below = add("below", one, NULL);
        catapults_t threads[] = {spawn(one, turn, NULL), spawn(below, turn, NULL), spawn(below, turn, NULL)};
        join_all(threads, 3);
        require(catapults_scheduler_remove(one) == EBUSY);
        require(catapults_scheduler_remove(below) == 0);
        while (catapults_scheduler_remove(one) == EBUSY)
            catapults_yield();
    }
    join_all(&other, 1);
}

static void the_policy_of_a_child_is_replaced(void) {
    begin(2, LEAST_LOADED);
    catapults_scheduler_t child = add("child", NULL, NULL);
    catapults_t threads[MANY];
    spawn_many(threads, &child, 1);
    static const char *const files[] = {POLICIES "/turns.so", POLICIES "/eager.so", NULL};
    for (int i = 0; i < 30; i++) {
        require(catapults_policy_replace(child, files[i % 3]) == 0);
        catapults_sleep(MS / 10);
    }
    join_all(threads, MANY);
    require(strcmp(catapults_policy_name(), "least_loaded") == 0);
}

/* ---- On one processor -------------------------------------------------------------------------------------------- */

static void one_processor_is_one_node(void) {
    begin(1, PLACES);
    catapults_scheduler_t outer = add("outer", NULL, POLICIES "/turns.so"), inner = add("inner", outer, NULL);
    catapults_scheduler_t under[] = {outer, inner, NULL};
    catapults_t threads[MANY];
    spawn_many(threads, under, 3);
    require(catapults_threads_total() == MANY / 3 + 2); /* threads of the root, and the scheduler under it */
    catapults_t next = spawn(inner, turn, NULL);
    require(catapults_yield_to(next) == EAGAIN); /* the policy has no set_next_thread */
    join_all(&next, 1);
    join_all(threads, MANY);
    require(strcmp(catapults_policy_name(), "places") == 0);
}

static void a_child_of_fork_has_one(void) {
    begin(3, LEAST_LOADED);
    catapults_scheduler_t child = add("child", NULL, POLICIES "/turns.so");
    catapults_t threads[4];
    for (int i = 0; i < 4; i++)
        threads[i] = spawn(child, turn, NULL);
    for (int i = 0; i < 5; i++) {
        pid_t pid = catapults_fork();
        require(pid >= 0);
        if (pid == 0) {
            require(strcmp(catapults_policy_name(), "least_loaded") == 0 && catapults_processors() == 1);
            catapults_t own[] = {spawn(child, turn, NULL), spawn(NULL, turn, NULL)};
            join_all(own, 2);
            require(catapults_scheduler_remove(child) == 0);
            _exit(7);
        }
        int status;
        require(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 7);
    }
    join_all(threads, 4);
}

/* ---- A policy that is out ---------------------------------------------------------------------------------------- */

static void break_it(int processors, int way) {
    begin(processors, PLACES);
    catapults_scheduler_t outer = add("outer", NULL, POLICIES "/turns.so"), inner = add("inner", outer, NULL);
    catapults_scheduler_t under[] = {outer, inner, NULL};
    catapults_t threads[MANY];
    spawn_many(threads, under, 3);
    catapults_sleep(MS);
    set(&broken, way);
    if (way == 5)
        require(catapults_set_processors(1) == 0 && catapults_set_processors(3) == 0);
    catapults_t late = spawn(add("late", NULL, NULL), turn, NULL);
    join_all(&late, 1);
    join_all(threads, MANY);
    for (int i = 0; i < 1000 && strcmp(catapults_policy_name(), "places") == 0; i++)
        catapults_yield();
    require(strcmp(catapults_policy_name(), "fifo (built-in)") == 0);
    require(strcmp(catapults_scheduler_policy_name(outer), "turns") == 0);
    if (processors < 3)
        return;
    atomic_store(&there, 0);
    for (int i = 0; i < 3; i++)
        threads[i] = spawn(i % 2 ? outer : inner, meet, NULL);
    join_all(threads, 3);
}

static void in_dispatch(void) { break_it(3, 1); }
static void in_dispatch_on_one(void) { break_it(1, 1); }
static void in_switch_out(void) { break_it(3, 3); }
static void in_departure(void) { break_it(3, 5); }

static void it_goes(void (*body)(void), const char *why) {
    struct child child = run_child(body);
    assert_exit(&child, EXIT_SUCCESS);
    assert_reported(&child, why);
}

static void schedulers_go_on_under_the_built_in_policy(void **state) {
    (void)state;
    it_goes(in_dispatch, "`next` is empty in `next => processors`");
    it_goes(in_dispatch_on_one, "`next` is empty in `next => processors`");
    it_goes(in_switch_out, "`ready` is empty in `ready => spare`");
    it_goes(in_departure, "in `processors => next`");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        child_test(what_is_under_one_has_all_processors),
        child_test(also_in_queues),
        child_test(also_if_all_is_placed_on_one),
        child_test(the_policy_places_schedulers),
        child_test(a_scheduler_is_bound_by_its_value),
        child_test(threads_are_preempted),
        child_test(processors_come_and_go),
        child_test(processors_come_and_go_with_queues),
        child_test(processors_come_and_go_with_loads),
        child_test(threads_change_their_scheduler),
        child_test(schedulers_come_and_go),
        child_test(the_policy_of_a_child_is_replaced),
        child_test(one_processor_is_one_node),
        child_test(a_child_of_fork_has_one),
        cmocka_unit_test(schedulers_go_on_under_the_built_in_policy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
