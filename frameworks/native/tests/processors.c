/*
 * Several processors: threads run at the same time, are preempted on each of them, and stay where they are bound to.
 * Also the end of the program, fork, stack overflows, options that are refused, and accounting.
 */
#include <errno.h>
#include <sys/syscall.h>
#include <time.h>

#include "processors_test.h"

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

static void threads_run_at_once(void) {
    begin(3, NULL);
    catapults_t threads[] = {spawn(meet, (void *)3), spawn(meet, (void *)3)};
    meet((void *)3);
    for (int i = 0; i < 2; i++)
        require(catapults_join(threads[i], NULL) == 0);
}

static void who_has_nothing_to_do_sleeps(void) {
    begin(4, NULL);
    catapults_t threads[] = {spawn(sleep_a_while, NULL), spawn(sleep_a_while, NULL)};
    struct timespec before, after;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
    int64_t began = catapults_now();
    catapults_sleep(200 * MS);
    int64_t passed = catapults_now() - began;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
    require(passed >= 200 * MS);
    require((after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec - before.tv_nsec < passed / 4);
    for (int i = 0; i < 2; i++)
        require(catapults_join(threads[i], NULL) == 0);
}

/* ---- Preemption -------------------------------------------------------------------------------------------------- */

static atomic_int spun[6];
static atomic_bool spin_on = true;

/* Without any call of the runtime. */
static void *spin(void *argument) {
    while (atomic_load_explicit(&spin_on, memory_order_relaxed))
        atomic_fetch_add_explicit((atomic_int *)argument, 1, memory_order_relaxed);
    return NULL;
}

static void threads_are_preempted_on_all(void) {
    begin(2, POLICIES "/turns.so");
    catapults_t threads[6];
    for (int i = 0; i < 6; i++)
        threads[i] = spawn(spin, &spun[i]);
    bool all = false;
    while (!all) {
        catapults_sleep(5 * MS);
        all = true;
        for (int i = 0; i < 6; i++)
            all = all && atomic_load(&spun[i]) > 0;
    }
    atomic_store(&spin_on, false);
    for (int i = 0; i < 6; i++)
        require(catapults_join(threads[i], NULL) == 0);
}

/* It stops, though it makes no call. */
static void who_spins_elsewhere_can_be_suspended(void) {
    begin(2, NULL);
    catapults_t thread = spawn(spin, &spun[0]);
    while (atomic_load(&spun[0]) == 0)
        ;
    require(catapults_suspend(thread) == 0);
    int before;
    do {
        before = atomic_load(&spun[0]);
        catapults_sleep(20 * MS);
    } while (before != atomic_load(&spun[0]));
    require(catapults_resume(thread) == 0);
    while (before == atomic_load(&spun[0]))
        catapults_yield();
    atomic_store(&spin_on, false);
    require(catapults_join(thread, NULL) == 0);
}

/* ---- Affinity ---------------------------------------------------------------------------------------------------- */

__attribute__((noipa)) static pid_t kernel_thread(void) { return (pid_t)syscall(SYS_gettid); }

static void *stay(void *argument) {
    pid_t mine = kernel_thread();
    for (int i = 0; i < 500; i++) {
        if (i % 10 == 0)
            catapults_sleep(1000);
        else
            catapults_yield();
        require(kernel_thread() == mine);
    }
    *(pid_t *)argument = mine;
    return NULL;
}

static void threads_stay_where_they_are_bound_to(void) {
    begin(3, NULL);
    catapults_t threads[9];
    pid_t places[9];
    for (int i = 0; i < 9; i++)
        require(catapults_create(&threads[i], &(struct catapults_attributes){.processors = 1u << i % 3}, stay,
                                 &places[i]) == 0);
    uint64_t processors;
    require(catapults_setaffinity(catapults_self(), 6) == 0);
    require(catapults_getaffinity(catapults_self(), &processors) == 0 && processors == 6);
    require(catapults_create(NULL, &(struct catapults_attributes){.processors = 8}, stay, NULL) == EINVAL);
    require(catapults_setaffinity(catapults_self(), 8) == EINVAL);
    for (int i = 0; i < 9; i++)
        require(catapults_join(threads[i], NULL) == 0);
    for (int i = 0; i < 9; i++)
        for (int j = 0; j < 9; j++)
            require((places[i] == places[j]) == (i % 3 == j % 3));
    for (int i = 0; i < 20; i++) {
        require(catapults_setaffinity(catapults_self(), 1u << i % 3) == 0);
        require(kernel_thread() == places[i % 3]);
    }
}

/* Far more of them than turns can wait: who may run anywhere comes still, and lets them go. */
static atomic_bool let_go;
static atomic_int came;

static void *keep(void *argument) {
    while (!atomic_load(&let_go))
        ;
    return argument;
}

static void *come(void *argument) {
    atomic_fetch_add(&came, 1);
    return argument;
}

static void *let_them_go(void *argument) {
    require(atomic_load(&came) == 0);
    atomic_store(&let_go, true);
    return argument;
}

static void very_many_wait_for_one_that_is_kept(void) {
    enum { MANY = 200 };
    begin(2, NULL);
    require(catapults_setaffinity(catapults_self(), 2) == 0);
    for (int round = 0; round < 5; round++) {
        static catapults_t threads[MANY + 2];
        struct catapults_attributes first = {.processors = 1};
        atomic_store(&let_go, false);
        atomic_store(&came, 0);
        for (int i = 0; i <= MANY; i++)
            require(catapults_create(&threads[i], &first, i ? come : keep, NULL) == 0);
        threads[MANY + 1] = spawn(let_them_go, NULL);
        for (int i = MANY + 1; i >= 0; i--)
            require(catapults_join(threads[i], NULL) == 0);
        require(atomic_load(&came) == MANY);
    }
}

/* ---- The end ----------------------------------------------------------------------------------------------------- */

static void *exit_last(void *argument) {
    catapults_sleep(2 * MS);
    return argument;
}

static void it_ends_with_the_last_thread(void) {
    begin(2, NULL);
    for (int i = 0; i < 5; i++)
        require(catapults_detach(spawn(exit_last, NULL)) == 0);
    catapults_exit(NULL);
}

static void *lock_for_ever(void *argument) {
    catapults_mutex_lock(argument);
    catapults_port_t nobody = CATAPULTS_PORT_INITIALIZER;
    struct catapults_message *message;
    catapults_port_receive(&nobody, &message);
    return NULL;
}

static void wait_for_each_other(void) {
    begin(3, NULL);
    static catapults_mutex_t mutex = CATAPULTS_MUTEX_INITIALIZER;
    catapults_t thread = spawn(lock_for_ever, &mutex);
    catapults_join(thread, NULL);
}

static void a_deadlock_is_reported(void **state) {
    (void)state;
    struct child child = run_child(wait_for_each_other);
    assert_exit(&child, EXIT_FAILURE);
    assert_reported(&child, "deadlock");
}

/* ---- Fork -------------------------------------------------------------------------------------------------------- */

static void a_child_has_one(void) {
    begin(2, NULL);
    catapults_t threads[4];
    for (int i = 0; i < 4; i++)
        threads[i] = spawn(turn, NULL);
    for (int i = 0; i < 5; i++) {
        pid_t pid = catapults_fork();
        require(pid >= 0);
        if (pid == 0) {
            catapults_t child = spawn(turn, NULL);
            catapults_yield();
            require(catapults_join(child, NULL) == 0);
            _exit(7);
        }
        int status;
        require(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 7);
    }
    for (int i = 0; i < 4; i++)
        require(catapults_join(threads[i], NULL) == 0);
}

#if !defined(ACTIVATED)
/* ---- Stacks ------------------------------------------------------------------------------------------------------ */

__attribute__((noipa)) static int recurse(int depth) {
    volatile char space[2000];
    space[0] = (char)depth;
    return depth == 1 << 20 ? space[0] : recurse(depth + 1) + space[0];
}

static void *overflow(void *argument) { return (char *)argument + recurse(0); }

static void overflow_on_another(void) {
    begin(2, NULL);
    require(catapults_setaffinity(catapults_self(), 1) == 0);
    catapults_t thread;
    struct catapults_attributes attributes = {.name = "deep", .processors = 2};
    require(catapults_create(&thread, &attributes, overflow, NULL) == 0);
    catapults_join(thread, NULL);
}

static void an_overflow_is_reported_on_all(void **state) {
    (void)state;
    struct child child = run_child(overflow_on_another);
    assert_true(WIFSIGNALED(child.status) && WTERMSIG(child.status) == SIGSEGV);
    assert_reported(&child, "(deep) overflowed its stack of 64 KiB");
}

/* ---- What does not go -------------------------------------------------------------------------------------------- */

static void ask_for_too_much(void) {
    require(catapults_init(&(struct catapults_options){.processors = 65, .activations = true}) == EINVAL);
    require(catapults_init(&(struct catapults_options){.processors = 1000}) == EINVAL);
    require(catapults_init(&(struct catapults_options){.processors = -2}) == EINVAL);
    setenv("CATAPULTS_PROCESSORS", "many", 1);
    require(catapults_init(NULL) == EINVAL);
    setenv("CATAPULTS_PROCESSORS", "-1", 1); /* what stands for all of them in C is no number of them */
    require(catapults_init(NULL) == EINVAL);
    setenv("CATAPULTS_PROCESSORS", "all", 1);
    require(catapults_init(NULL) == 0);
}

static void what_does_not_go_is_said(void **state) {
    (void)state;
    struct child child = run_child(ask_for_too_much);
    assert_exit(&child, EXIT_SUCCESS);
    assert_reported(&child, "with activations there are at most 64 processors");
    assert_reported(&child, "the option `processors` is 1000: it must be from 1 to 128");
    assert_reported(&child, "CATAPULTS_PROCESSORS is \"many\": it must be a number from 1 to 128, or \"all\"");
    assert_reported(&child, "CATAPULTS_PROCESSORS is \"-1\": it must be a number from 1 to 128, or \"all\"");
}

/* ---- Accounting -------------------------------------------------------------------------------------------------- */

static int64_t own_processor_time(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static void *use_processor(void *milliseconds) {
    for (int64_t before = own_processor_time(); own_processor_time() < before + (intptr_t)milliseconds * MS;)
        ;
    return (void *)(intptr_t)(catapults_consumed(catapults_self()) / MS);
}

/* Whose kernel threads are two. Where other processes have the CPU, too, the kernel finds late that ticks have passed:
 * it is measured again then. */
static void samples_are_taken_on_all(void) {
    alarm(HANGS);
    require(catapults_init(
                &(struct catapults_options){.processors = 2, .accounting = CATAPULTS_ACCOUNTING_STATISTICAL}) == 0);
    catapults_account();
    bool found;
    do {
        catapults_t threads[] = {spawn(use_processor, (void *)200), spawn(use_processor, (void *)400)};
        found = true;
        for (intptr_t i = 0; i < 2; i++) {
            void *consumed;
            require(catapults_join(threads[i], &consumed) == 0);
            found &= (intptr_t)consumed >= 100 * (i + 1) && (intptr_t)consumed <= 300 * (i + 1);
        }
    } while (!found);
    require(catapults_consumed(catapults_self()) <= 40 * MS);
}

#endif

int main(void) {
#if defined(ACTIVATED) /* see processors_activated.c */
    setenv("CATAPULTS_ACTIVATIONS", "1", 1);
#endif
    const struct CMUnitTest tests[] = {
        child_test(threads_run_at_once),
        child_test(who_has_nothing_to_do_sleeps),
        child_test(who_spins_elsewhere_can_be_suspended),
        child_test(threads_stay_where_they_are_bound_to),
        child_test(very_many_wait_for_one_that_is_kept),
        child_test(it_ends_with_the_last_thread),
        cmocka_unit_test(a_deadlock_is_reported),
        child_test(a_child_has_one),
        child_test(threads_are_preempted_on_all),
#if !defined(ACTIVATED)
        child_test(samples_are_taken_on_all),
        cmocka_unit_test(an_overflow_is_reported_on_all),
        cmocka_unit_test(what_does_not_go_is_said),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
