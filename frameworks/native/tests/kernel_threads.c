/*
 * What the runtime does for each kernel thread that activations make: handlers that do not end are left, overflows of
 * stacks reported, and who runs is charged for its time, wherever that is.
 */
#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "catapults.h"
#include "support/child.h"

#define MILLISECOND INT64_C(1000000)

static int processors; /* of the child that is begun next */
static catapults_int endless;
static int ends[2];

static void start(const char *policy, enum catapults_accounting accounting) {
    alarm(HANGS);
    require(catapults_init(&(struct catapults_options){.policy = policy,
                                                       .processors = processors,
                                                       .activations = true,
                                                       .handler_limit = 20 * MILLISECOND,
                                                       .accounting = accounting}) == 0);
}

static catapults_t create(void *(*body)(void *), void *argument) {
    catapults_t thread;
    require(catapults_create(&thread, &(struct catapults_attributes){.name = "one"}, body, argument) == 0);
    return thread;
}

static void *read_pipe(void *unused) {
    char c;
    require(read(ends[0], &c, 1) == 1); /* the system call itself: its kernel thread stays there */
    return unused;
}

/* Compilers believe that it never changes. */
__attribute__((noipa)) static pthread_t kernel_thread(void) { return pthread_self(); }

/* The caller runs on a kernel thread that is neither the first nor any that runs before `threads` have blocked. */
static void go_elsewhere(catapults_t *threads, int count) {
    require(pipe(ends) == 0);
    pthread_t first = kernel_thread();
    for (int i = 0; i < count; i++)
        threads[i] = create(read_pipe, NULL);
    while (pthread_equal(first, kernel_thread()) || catapults_threads_suspended() < count)
        catapults_sleep(MILLISECOND);
}

static void come_back(const catapults_t *threads, int count) {
    for (int i = 0; i < count; i++)
        require(write(ends[1], "x", 1) == 1);
    for (int i = 0; i < count; i++)
        require(catapults_join(threads[i], NULL) == 0);
}

/* ---- Handlers ---------------------------------------------------------------------------------------------------- */

static void give_up_for_ever(void) {
    catapults_t threads[4];
    start(POLICIES "/forever.so", CATAPULTS_ACCOUNTING_DEFAULT);
    require(catapults_schedvar_register("endless", &endless) == 0);
    go_elsewhere(threads, 4);
    endless = 1;
    catapults_yield();
    require(strcmp(catapults_policy_name(), "fifo (built-in)") == 0);
    come_back(threads, 4);
}

static void a_handler_that_does_not_end_is_left(void **state) {
    (void)state;
    for (processors = 1; processors <= 2; processors++) {
        struct child child = run_child(give_up_for_ever);
        assert_exit(&child, EXIT_SUCCESS);
        assert_reported(&child, "the handler of `switch_out` in forever.sched:13 ran for longer than 20 ms");
    }
}

/* ---- Overflows --------------------------------------------------------------------------------------------------- */

__attribute__((noipa)) static int recurse(int depth) {
    volatile char space[2000];
    space[0] = (char)depth;
    return depth == 1 << 20 ? space[0] : recurse(depth + 1) + space[0];
}

static void *overflow(void *argument) {
    catapults_t threads[4];
    go_elsewhere(threads, 4);
    return (char *)argument + recurse(0);
}

static void overflow_elsewhere(void) {
    start(NULL, CATAPULTS_ACCOUNTING_DEFAULT);
    catapults_join(create(overflow, NULL), NULL);
}

static void an_overflow_is_reported(void **state) {
    (void)state;
    for (processors = 1; processors <= 2; processors++) {
        struct child child = run_child(overflow_elsewhere);
        assert_true(WIFSIGNALED(child.status) && WTERMSIG(child.status) == SIGSEGV);
        assert_reported(&child, "(one) overflowed its stack of 64 KiB");
    }
}

/* ---- Accounting -------------------------------------------------------------------------------------------------- */

struct worker {
    int64_t own, consumed;
};

/* Of the kernel thread, which the caller does not leave. */
static int64_t processor_time(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * 1000 * MILLISECOND + time.tv_nsec;
}

static int64_t use_processor(int64_t nanoseconds) {
    int64_t before = processor_time(), now;
    while ((now = processor_time()) < before + nanoseconds)
        ;
    return now - before;
}

static void *compute_and_block(void *argument) {
    struct worker *self = argument;
    int64_t before = catapults_consumed(catapults_self());
    for (int i = 0; i < 4; i++) {
        self->own += use_processor(60 * MILLISECOND);
        nanosleep(&(struct timespec){.tv_nsec = MILLISECOND}, NULL); /* it leaves the processor for others */
    }
    self->consumed = catapults_consumed(catapults_self()) - before;
    return argument;
}

static bool is_about(int64_t value, int64_t of) { return value >= of * 70 / 100 && value <= of * 130 / 100; }

/* Where other processes have the CPU, too, the kernel finds late that ticks have passed: it is repeated then. */
static void charge_by_samples(void) {
    catapults_t threads[4];
    start(NULL, CATAPULTS_ACCOUNTING_STATISTICAL);
    catapults_account();
    go_elsewhere(threads, 4);
    bool found;
    do {
        struct worker workers[2] = {0};
        catapults_t both[2];
        for (int j = 0; j < 2; j++)
            both[j] = create(compute_and_block, &workers[j]);
        for (int j = 0; j < 2; j++)
            require(catapults_join(both[j], NULL) == 0);
        found = is_about(workers[0].consumed, workers[0].own) && is_about(workers[1].consumed, workers[1].own);
    } while (!found);
    int64_t idle = catapults_consumed(threads[0]);
    require(idle <= 20 * MILLISECOND); /* who is blocked in the kernel uses nothing */
    come_back(threads, 4);
}

static void who_runs_is_charged_by_samples(void **state) {
    (void)state;
    for (processors = 1; processors <= 2; processors++) {
        struct child child = run_child(charge_by_samples);
        assert_exit(&child, EXIT_SUCCESS);
        assert_string_equal(child.report, "");
    }
}

int main(void) {
    const struct CMUnitTest kernel_threads[] = {
        cmocka_unit_test(a_handler_that_does_not_end_is_left),
        cmocka_unit_test(an_overflow_is_reported),
        cmocka_unit_test(who_runs_is_charged_by_samples),
    };
    return cmocka_run_group_tests(kernel_threads, NULL, NULL);
}
