/*
 * Threads under the built-in FIFO: lives, suspension, time, and how the process ends.
 */
#include <errno.h>
#include <sys/mman.h>

#include "catapults.h"
#include "support/child.h"

static char order[256];

static void begin(void) { require(catapults_init(NULL) == 0); }

static catapults_t spawn(const char *name, void *(*start)(void *), void *argument) {
    catapults_t thread;
    require(catapults_create(&thread, &(struct catapults_attributes){.name = name}, start, argument) == 0);
    return thread;
}

static void *note(void *name) {
    strcat(order, name);
    return name;
}

static void *note_three_times(void *name) {
    for (int i = 0; i < 3; i++) {
        note(name);
        catapults_yield();
    }
    return name;
}

/* ---- Lives ------------------------------------------------------------------------------------------------------- */

static void threads_take_turns(void) {
    begin();
    catapults_t a = spawn("a", note_three_times, "a"), b = spawn("b", note_three_times, "b");
    void *result;
    require(catapults_join(a, &result) == 0 && strcmp(result, "a") == 0);
    require(catapults_join(b, &result) == 0 && strcmp(result, "b") == 0);
    require(strcmp(order, "ababab") == 0);
}

static void *say_who(void *argument) {
    require(catapults_self() == *(catapults_t *)argument);
    return (void *)catapults_name(catapults_self());
}

static void a_thread_knows_itself(void) {
    begin();
    catapults_t thread;
    struct catapults_attributes attributes = {.name = "a name that is longer than what is kept of it"};
    require(catapults_create(&thread, &attributes, say_who, &thread) == 0);
    require(strcmp(catapults_name(thread), "a name that is longer than what") == 0);
    require(catapults_join(thread, NULL) == 0);
    require(strcmp(catapults_name(catapults_self()), "main") == 0);
}

static void *leave_early(void *argument) {
    catapults_exit(argument);
    return NULL;
}

static void *join_it(void *thread) { return (void *)(intptr_t)catapults_join(thread, NULL); }

static void *join_itself(void *argument) {
    (void)argument;
    return (void *)(intptr_t)catapults_join(catapults_self(), NULL);
}

static void joining(void) {
    begin();
    void *result;
    require(catapults_join(spawn("early", leave_early, order), &result) == 0 && result == order);
    catapults_t ended = spawn("ended", note, "x");
    catapults_yield();
    require(catapults_join(ended, &result) == 0 && strcmp(result, "x") == 0);
    require(catapults_join(ended, &result) == EINVAL && catapults_tryjoin(ended, &result) == EINVAL);
    require(catapults_detach(ended) == EINVAL);
    require(catapults_join(catapults_self(), NULL) == EDEADLK);
    catapults_t itself = spawn("itself", join_itself, NULL);
    require(catapults_join(itself, &result) == 0 && (intptr_t)result == EDEADLK); /* though it is being joined */

    catapults_t mutual = spawn("mutual", join_it, catapults_self());
    require(catapults_join(mutual, &result) == 0 && (intptr_t)result == EDEADLK);

    catapults_t target = spawn("target", note_three_times, "y"), joiner = spawn("joiner", join_it, target);
    catapults_yield();
    require(catapults_join(target, NULL) == EINVAL && catapults_detach(target) == EINVAL);
    require(catapults_join(joiner, &result) == 0 && (intptr_t)result == 0);
}

static void detaching(void) {
    begin();
    order[0] = '\0';
    require(catapults_create(NULL, &(struct catapults_attributes){.detached = true}, note, "d") == 0);
    catapults_t running = spawn("running", note_three_times, "r"), ended = spawn("ended", note, "e");
    require(catapults_detach(running) == 0 && catapults_detach(running) == EINVAL);
    require(catapults_join(running, NULL) == EINVAL);
    catapults_yield();
    require(catapults_detach(ended) == 0);
    while (catapults_threads_total() > 1)
        catapults_yield();
    require(strcmp(order, "drerr") == 0);
}

static void *nothing(void *argument) { return argument; }

static void *be_many(void *argument) {
    catapults_t threads[10];
    for (int i = 0; i < 10; i++)
        threads[i] = spawn(NULL, nothing, argument);
    for (int i = 9; i >= 0; i--)
        require(catapults_join(threads[i], NULL) == 0);
    return argument;
}

static void five_thousand_threads(void) {
    begin();
    enum { MANY = 500 }; /* ThreadSanitizer allows 8,128 */
    static catapults_t threads[MANY];
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < MANY; i++)
            threads[i] = spawn(NULL, be_many, &threads[i]);
        require(catapults_threads_ready() == MANY && catapults_threads_total() == MANY + 1);
        void *result;
        for (int i = 0; i < MANY; i++)
            require(catapults_join(threads[i], &result) == 0 && result == &threads[i]);
    }
    require(catapults_threads_total() == 1);
}

static void *use_stack(void *argument) {
    volatile char block[200 << 10];
    for (size_t i = 0; i < sizeof block; i += 1000)
        block[i] = 1;
    catapults_yield();
    return argument;
}

static void a_larger_stack(void) {
    begin();
    catapults_t thread;
    struct catapults_attributes attributes = {.stack_size = 256 << 10};
    require(catapults_create(&thread, &attributes, use_stack, NULL) == 0);
    require(catapults_join(thread, NULL) == 0);
    require(catapults_create(&thread, &(struct catapults_attributes){.stack_size = SIZE_MAX}, use_stack, NULL) ==
            EAGAIN);
    require(catapults_refusal() == NULL);
}

static void *set_errno(void *argument) {
    for (int i = 0; i < 5; i++) {
        errno = (int)(intptr_t)argument;
        catapults_yield();
        require(errno == (int)(intptr_t)argument);
        catapults_sleep(1000);
        require(errno == (int)(intptr_t)argument);
    }
    return NULL;
}

static void errno_is_each_threads_own(void) {
    begin();
    catapults_t a = spawn("a", set_errno, (void *)1), b = spawn("b", set_errno, (void *)2);
    errno = 3;
    require(catapults_join(a, NULL) == 0 && catapults_join(b, NULL) == 0 && errno == 3);
}

/* ---- Suspension and directed yields ------------------------------------------------------------------------------ */

static void suspension(void) {
    begin();
    catapults_t a = spawn("a", note_three_times, "a");
    require(catapults_resume(a) == EINVAL);
    require(catapults_suspend(a) == 0);
    require(catapults_threads_suspended() == 1 && catapults_threads_ready() == 0);
    for (int i = 0; i < 5; i++)
        catapults_yield();
    require(order[0] == '\0');
    require(catapults_resume(a) == 0);
    catapults_yield();
    require(strcmp(order, "a") == 0);
    require(catapults_join(a, NULL) == 0);
    a = spawn("a", note, "b");
    catapults_yield();
    require(catapults_suspend(a) == ESRCH && catapults_join(a, NULL) == 0);
}

static void *resume_it(void *thread) { return (void *)(intptr_t)catapults_resume(thread); }

static void a_thread_suspends_itself(void) {
    begin();
    catapults_t other = spawn("other", resume_it, catapults_self());
    require(catapults_suspend(catapults_self()) == 0);
    void *result;
    require(catapults_join(other, &result) == 0 && result == NULL);
}

static void directed_yields(void) {
    begin();
    catapults_t a = spawn("a", note_three_times, "a"), b = spawn("b", note_three_times, "b");
    require(catapults_yield_to(b) == 0);
    require(strcmp(order, "ba") == 0);
    require(catapults_suspend(a) == 0 && catapults_yield_to(a) == EAGAIN);
    require(strcmp(order, "bab") == 0);
    require(catapults_yield_to(catapults_self()) == EAGAIN);
    require(catapults_resume(a) == 0);
}

/* ---- Time -------------------------------------------------------------------------------------------------------- */

static int64_t begun;
static bool late; /* somebody came to sleep when the first was to wake already */

static void *sleep_and_note(void *name) {
    late |= catapults_now() - begun > 5000000;
    catapults_sleep_until(begun + (*(char *)name - 'a' + 1) * (int64_t)10000000);
    return note(name);
}

static void sleepers_wake_in_order(void) {
    begin();
    static char names[5][2] = {"e", "b", "d", "a", "c"};
    catapults_t threads[5];
    do {
        late = false;
        order[0] = '\0';
        begun = catapults_now();
        for (int i = 0; i < 5; i++)
            threads[i] = spawn(names[i], sleep_and_note, names[i]);
        for (int i = 0; i < 5; i++)
            require(catapults_join(threads[i], NULL) == 0);
    } while (late);
    require(strcmp(order, "abcde") == 0);
    require(catapults_now() - begun >= 50000000);
    const int64_t hour = INT64_C(3600000000000);
    catapults_sleep_until(catapults_now() - hour); /* it is over */
    catapults_sleep(0);
    catapults_sleep(-hour);
}

static bool stop;
static void *spin(void *argument) {
    while (!stop)
        catapults_yield();
    return argument;
}

static void a_sleeper_wakes_among_busy_threads(void) {
    begin();
    catapults_t busy = spawn("busy", spin, NULL);
    int64_t before = catapults_now();
    catapults_sleep(5000000);
    int64_t slept = catapults_now() - before;
    require(slept >= 5000000);
    stop = true;
    require(catapults_join(busy, NULL) == 0);
}

/* ---- The end ----------------------------------------------------------------------------------------------------- */

static void *finish_later(void *argument) {
    catapults_sleep(1000000);
    fprintf(stderr, "later");
    return argument;
}

static void main_leaves_first(void) {
    begin();
    spawn("later", finish_later, NULL);
    catapults_exit(NULL);
}

static void the_process_ends_with_its_last_thread(void **state) {
    (void)state;
    struct child child = run_child(main_leaves_first);
    assert_exit(&child, EXIT_SUCCESS);
    assert_string_equal(child.report, "later");
}

static void *sleep_forever(void *argument) {
    volatile char used[4096]; /* a quarter of the stack */
    used[0] = 0;
    catapults_sleep_until(CATAPULTS_FOREVER);
    return (char *)argument + used[0];
}

static void deadlock(void) {
    begin();
    catapults_suspend(spawn("resting", nothing, NULL));
    /* It is reported on the stack of the last thread that blocked, however small. */
    struct catapults_attributes small = {.name = "sleeper", .stack_size = 16 << 10};
    catapults_t sleeper;
    require(catapults_create(&sleeper, &small, sleep_forever, NULL) == 0);
    catapults_join(sleeper, NULL);
}

static void a_deadlock_is_reported(void **state) {
    (void)state;
    struct child child = run_child(deadlock);
    assert_exit(&child, EXIT_FAILURE);
    assert_reported(&child, "catapults: deadlock: ");
    assert_reported(&child, "thread 1 (main) waits for the end of thread 3 (sleeper)\n");
    assert_reported(&child, "thread 2 (resting) waits to be resumed\n");
    assert_reported(&child, "thread 3 (sleeper) waits for an instant\n");
}

static volatile int deepest = INT32_MAX;

static __attribute__((noinline)) int recurse(int depth) {
    volatile char block[512];
    block[0] = (char)depth;
    return depth == deepest ? 0 : recurse(depth + 1) + block[0];
}

static void *overflow(void *argument) { return (char *)argument + recurse(0); }

static void overflow_in_a_thread(void) {
    begin();
    catapults_join(spawn("deep", overflow, NULL), NULL);
}

static void other_fault(void) {
    begin();
    *(volatile char *)mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) = 1;
}

static void an_overflow_is_reported(void **state) {
    (void)state;
    struct child child = run_child(overflow_in_a_thread);
    assert_true(WIFSIGNALED(child.status) && WTERMSIG(child.status) == SIGSEGV);
    assert_reported(&child,
                    "catapults: thread 2 (deep) overflowed its stack of 64 KiB; give it a larger one (stack_size in "
                    "its attributes)\n"); /* an emulator adds a line of its own */
    child = run_child(other_fault);
    assert_true(WIFSIGNALED(child.status) && WTERMSIG(child.status) == SIGSEGV);
    assert_null(strstr(child.report, "catapults"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        child_test(threads_take_turns),
        child_test(a_thread_knows_itself),
        child_test(joining),
        child_test(detaching),
        child_test(five_thousand_threads),
        child_test(a_larger_stack),
        child_test(errno_is_each_threads_own),
        child_test(suspension),
        child_test(a_thread_suspends_itself),
        child_test(directed_yields),
        child_test(sleepers_wake_in_order),
        child_test(a_sleeper_wakes_among_busy_threads),
        cmocka_unit_test(the_process_ends_with_its_last_thread),
        cmocka_unit_test(a_deadlock_is_reported),
        cmocka_unit_test(an_overflow_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
