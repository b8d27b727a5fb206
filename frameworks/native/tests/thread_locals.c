/*
 * thread_local variables: the kernel thread's, or each thread's own, whichever way threads lose the processor.
 */
#include <stdatomic.h>

#include "support/program.h"

enum { THREADS = 10, ROUNDS = 200, MS = 1000000 };

static _Thread_local long mine = 42;
static _Thread_local char text[40] = "as the program began";
static _Thread_local struct {
    long words[20];
} zeros;

static atomic_int others; /* values that another thread has left */

/* Their addresses are the kernel thread's, which may be another after each call that can wait. */
__attribute__((noipa)) static long get(void) { return mine; }
__attribute__((noipa)) static void set(long value) {
    mine = value;
    zeros.words[value % 20] = value;
    text[0] = (char)('a' + value % 26);
}
__attribute__((noipa)) static bool is_as_begun(void) {
    bool zero = true;
    for (int i = 0; i < 20; i++)
        zero = zero && zeros.words[i] == 0;
    return zero && mine == 42 && strcmp(text, "as the program began") == 0;
}
__attribute__((noipa)) static bool is_set_to(long value) {
    return mine == value && zeros.words[value % 20] == value && text[0] == (char)('a' + value % 26);
}

static catapults_mutex_t lock = CATAPULTS_MUTEX_INITIALIZER;

static void *use(void *argument) {
    long value = (long)argument;
    if (!is_as_begun())
        others++;
    for (int i = 0; i < ROUNDS; i++, value += THREADS) {
        set(value);
        switch (i % 4) {
        case 0:
            catapults_yield();
            break;
        case 1:
            catapults_sleep(1);
            break;
        case 2:
            catapults_mutex_lock(&lock);
            catapults_yield();
            catapults_mutex_unlock(&lock);
            break;
        default:
            for (volatile int spin = 0; spin < 20000; spin++)
                ; /* may be preempted */
        }
        if (!is_set_to(value))
            others++;
    }
    return argument;
}

static void run_all(int processors, bool asked, bool own) {
    struct catapults_options options = {
        .processors = processors, .policy = POLICIES "/turns.so", .tick = MS, .own_thread_locals = asked};
    require(catapults_init(&options) == 0);
    catapults_t threads[THREADS];
    set(7);
    for (long i = 0; i < THREADS; i++)
        threads[i] = spawn(use, (void *)(i + 1));
    for (int i = 0; i < THREADS; i++)
        join(threads[i]);
    if (own)
        require(others == 0 && is_set_to(7) && get() == 7);
    else
        require(others > 0);
}

#if defined(SEVERAL)

static void own_on_two_processors(void) { run_all(2, true, true); }
static void own_on_four_processors(void) { run_all(4, true, true); }

int main(void) {
    const struct CMUnitTest tests[] = {child_test(own_on_two_processors), child_test(own_on_four_processors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

static void they_are_shared(void) { run_all(1, false, false); }
static void own_on_one_processor(void) { run_all(1, true, true); }

static void asked_for_by_the_environment(void) {
    require(setenv("CATAPULTS_THREAD_LOCAL", "own", 1) == 0);
    run_all(1, false, true);
}

/* ---- Children, and what cannot be -------------------------------------------------------------------------------- */

static void *fork_and_look(void *argument) {
    set((long)argument);
    pid_t child = catapults_fork();
    require(child >= 0);
    if (child == 0) {
        require(is_set_to((long)argument));
        catapults_t other = spawn(use, (void *)3);
        join(other);
        require(is_set_to((long)argument) && others == 0);
        _exit(EXIT_SUCCESS);
    }
    int status;
    require(waitpid(child, &status, 0) == child && status == 0);
    return argument;
}

static void children_of_fork(void) {
    require(catapults_init(&(struct catapults_options){.own_thread_locals = true}) == 0);
    catapults_t threads[2];
    for (long i = 0; i < 2; i++)
        threads[i] = spawn(fork_and_look, (void *)(i + 5));
    for (int i = 0; i < 2; i++)
        join(threads[i]);
}

static void not_with_activations(void) {
    require(catapults_init(&(struct catapults_options){.own_thread_locals = true, .activations = true}) != 0);
}

static void it_is_said_why_not(void **state) {
    (void)state;
    struct child child = run_child(not_with_activations);
    assert_exit(&child, EXIT_SUCCESS);
    assert_reported(&child, "thread_local variables cannot be each thread's own with activations");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        child_test(they_are_shared),  child_test(own_on_one_processor),     child_test(asked_for_by_the_environment),
        child_test(children_of_fork), cmocka_unit_test(it_is_said_why_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
