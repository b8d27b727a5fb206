/*
 * Several processors: threads that only compute, each of which can go on on its own kernel thread only, have the shares
 * and the turns that the policy promises, as if any could run anywhere (core/hand_over.c).
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include "catapults.h"
#include "support/recorded.h"
#include "support/running_time.h"

enum { MS = 1000000, MOST = 9, SPINNING = 5, YIELDING = 4, TURNS = 20, FEW = 3, WINDOWS = 2, LONGEST = 8 };

#define LIBRARY POLICIES "/of_the_library/"

static atomic_bool stop;
static int threads_count;

/* For how long each has run. Each has its cache lines to itself. */
static struct {
    _Alignas(128) _Atomic uint64_t count;
    uint64_t before; /* this window */
} done[MOST];

/* ---- Kernel threads that cannot be had --------------------------------------------------------------------------- */

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument);

static atomic_int kernel_threads = 1000; /* that there may be besides the first */

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument) {
    if (atomic_fetch_sub(&kernel_threads, 1) <= 0)
        return EAGAIN;
    return __real_pthread_create(thread, attributes, start, argument);
}

/* ---- Shares ------------------------------------------------------------------------------------------------------ */

static void *compute(void *count) {
    for (uint64_t before = running_counter(); !atomic_load_explicit(&stop, memory_order_relaxed);)
        atomic_fetch_add_explicit((_Atomic uint64_t *)count, running_time(&before), memory_order_relaxed);
    return count;
}

static void *yield(void *argument) {
    while (!atomic_load(&stop))
        catapults_yield();
    return argument;
}

/* In this window. */
static uint64_t had(int thread) { return done[thread].count - done[thread].before; }

static void begin_window(void) {
    for (int i = 0; i < threads_count; i++)
        done[i].before = done[i].count;
}

/* Each has had so much. */
static bool have_had(uint64_t least) {
    for (int i = 0; i < threads_count; i++)
        if (had(i) < least)
            return false;
    return true;
}

/* Each within 5 % of its share. */
static bool are_fair(void) {
    uint64_t all = 0;
    for (int i = 0; i < threads_count; i++)
        all += had(i);
    uint64_t share = all / (uint64_t)threads_count;
    for (int i = 0; i < threads_count; i++)
        if (had(i) < share - share / 20 || had(i) > share + share / 20)
            return false;
    return true;
}

static void spawn_all(catapults_t *threads, int count) {
    threads_count = count;
    for (int i = 0; i < count; i++)
        require(catapults_create(&threads[i], NULL, compute, &done[i].count) == 0);
}

static void end_all(catapults_t *threads, int count) {
    atomic_store(&stop, true);
    for (int i = 0; i < count; i++)
        require(catapults_join(threads[i], NULL) == 0);
}

static const char *policy;
static int processors;

/* What others do on the machine levels out: shares that are right become fair, however long that takes, and do so
 * again.
 */
static void share(void) {
    catapults_t threads[MOST];
    alarm(HANGS);
    require(catapults_init(&(struct catapults_options){.processors = processors, .policy = policy}) == 0);
    spawn_all(threads, threads_count);
    for (int window = 0; window < WINDOWS; window++) {
        begin_window();
        do
            require(catapults_sleep(50 * MS) == 0);
        while (!have_had(1) || !are_fair());
    }
    end_all(threads, threads_count);
}

static void check_shares(const char *of, int on, int count) {
    policy = of;
    processors = on;
    threads_count = count;
    check_child(share);
}

static bool long_form; /* also what takes minutes */

/* Sanitizers look at the runtime, whatever the policy. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

/* Every policy of the library that ends turns by time and promises all threads that compute the same. */
static void each_has_its_share(void **state) {
    (void)state;
    static const char *const policies[] = {"round_robin", "priority_round_robin", "feedback", "bvt",
                                           "linux24",     "timesharing_lottery"};
    static const int of[][2] = {{2, 3}, {2, 5}, {4, 9}, {2, 9}, {4, 5}}; /* processors, threads */
    enum { POLICIES_COUNT = sizeof policies / sizeof *policies, OF_COUNT = sizeof of / sizeof *of, OF_FIRST = 3 };
    for (int i = 0; i < (SANITIZED ? 1 : POLICIES_COUNT); i++)
        for (int j = 0; j < (long_form ? OF_COUNT : i == 0 ? OF_FIRST : 1); j++) {
            char name[256];
            snprintf(name, sizeof name, LIBRARY "%s.so", policies[i]);
            check_shares(name, of[j][0], of[j][1]);
        }
}

/* One more than there are kernel threads: some stand on the same. Nobody waits for ever. */
static void few_kernel_threads(void) {
    catapults_t threads[MOST];
    alarm(HANGS);
    kernel_threads = FEW;
    require(catapults_init(&(struct catapults_options){.processors = 2, .policy = LIBRARY "round_robin.so"}) == 0);
    spawn_all(threads, MOST);
    require(catapults_sleep(200 * MS) == 0);
    uint64_t most = 0;
    for (int i = 0; i < MOST; i++)
        most = done[i].count > most ? done[i].count : most;
    while (!have_had(2 * most))
        require(catapults_sleep(100 * MS) == 0);
    end_all(threads, MOST);
}

/* ---- Turns ------------------------------------------------------------------------------------------------------- */

static void take_turns(void) {
    catapults_t threads[SPINNING];
    alarm(HANGS);
    require(catapults_init(
                &(struct catapults_options){.processors = 2, .trace = path, .policy = LIBRARY "round_robin.so"}) == 0);
    spawn_all(threads, SPINNING);
    require(catapults_sleep(1000 * MS) == 0);
    end_all(threads, SPINNING);
}

/* Who is READY goes behind all others, and comes before they come again: so no gap is longer than a turn of each. It
 * may be that who is dispatched still stands on a kernel thread which the kernel lets wait: seldom, and not for long.
 */
static void turns_come_in_order(void **state) {
    (void)state;
    const struct trace_file *file = recorded(take_turns);
    enum { FIRST = 2, END = FIRST + SPINNING };
    static int since[END][END]; /* [a][b]: how often b was dispatched since a is READY */
    int turns = 0, passed = 0, longest = 0;
    for (uint64_t i = 0; i < file->written && i < file->capacity; i++) {
        const struct trace_record *record = &trace_records(file)[i];
        if (record->thread < FIRST || record->thread >= END)
            continue;
        if (record->kind == TRACE_SWITCHED_OUT || record->kind == TRACE_PREEMPTED)
            memset(since[record->thread], 0, sizeof since[record->thread]);
        if (record->kind != TRACE_DISPATCHED)
            continue;
        int most = 0;
        for (int other = FIRST; other < END; other++) {
            most = since[record->thread][other] > most ? since[record->thread][other] : most;
            since[other][record->thread]++;
        }
        turns++;
        passed += most > 1;
        longest = most > longest ? most : longest;
    }
    assert_true(turns >= TURNS);
    assert_true(passed <= turns / 10);
    assert_true(longest <= LONGEST);
}

/* It has turns without end, as those of the others are short, whatever else the machine does. */
static void one_beside_four_that_yield(void) {
    catapults_t threads[1 + YIELDING];
    alarm(HANGS);
    require(catapults_init(&(struct catapults_options){.processors = 2, .policy = LIBRARY "round_robin.so"}) == 0);
    catapults_account();
    int64_t began = catapults_now();
    spawn_all(threads, 1);
    for (int i = 0; i < YIELDING; i++)
        require(catapults_create(&threads[1 + i], NULL, yield, NULL) == 0);
    do
        require(catapults_sleep(200 * MS) == 0);
    while (catapults_consumed(threads[0]) < (catapults_now() - began) / 2);
    end_all(threads, 1 + YIELDING);
}

int main(int arguments, char **argument) {
    long_form = arguments == 2 && strcmp(argument[1], "all") == 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_has_its_share),
        child_test(few_kernel_threads),
        cmocka_unit_test(turns_come_in_order),
        child_test(one_beside_four_that_yield),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
