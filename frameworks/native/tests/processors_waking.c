/*
 * Several processors: threads that become ready, and are more urgent than one of those that run, run at once, however
 * few processors have nothing to do, and wherever they are woken.
 */
#include <stdatomic.h>

#include "catapults.h"
#include "support/child.h"

enum { MS = 1000000, MOST = 3, ROUNDS = 10 };

struct task {
    catapults_int priority;
};
static struct task first = {1}, most_urgent = {5}, urgent = {3}, low = {1};

static const int64_t limit = 1000 * (int64_t)MS; /* those that compute let go of nothing before */
static atomic_int computing, came, late;
static int urgents;
static int64_t instant;
static catapults_barrier_t barrier;

static catapults_t spawn(struct task *task, void *(*start)(void *)) {
    catapults_t thread;
    require(catapults_create(&thread, &(struct catapults_attributes){.object = task}, start, NULL) == 0);
    return thread;
}

/* Nothing preempts but what is more urgent. */
static void begin_under(const char *policy, int processors) {
    alarm(HANGS);
    require(catapults_init(&(struct catapults_options){.processors = processors, .policy = policy}) == 0);
    catapults_threadvar_register("priority", struct task, priority);
    catapults_set_object(catapults_self(), &first);
    catapults_yield();
}

static void begin(int processors) { begin_under(POLICIES "/urgency.so", processors); }

/* Until all that are urgent have come. It seldom looks at the clock: a thread is left in its own code only. */
static void *compute(void *argument) {
    atomic_fetch_add(&computing, 1);
    int64_t end = catapults_now() + limit;
    while (atomic_load(&came) < urgents) {
        for (int i = 0; i < 10000 && atomic_load(&came) < urgents; i++)
            ;
        if (catapults_now() > end) {
            atomic_fetch_add(&late, 1);
            break;
        }
    }
    return argument;
}

static void *come(void *argument) {
    atomic_fetch_add(&came, 1);
    while (atomic_load(&came) < urgents && !atomic_load(&late))
        ;
    return argument;
}

static void *sleep_and_come(void *argument) {
    require(catapults_sleep_until(instant) == 0);
    return come(argument);
}

static void *wait_and_come(void *argument) {
    catapults_barrier_wait(&barrier);
    return come(argument);
}

static void prepare(void) {
    atomic_store(&came, 0);
    atomic_store(&computing, 0);
    require(catapults_barrier_init(&barrier, (uint32_t)urgents + 1) == 0);
    instant = catapults_now() + 50 * MS; /* all sleep before: who does not may hide that another wakes */
}

static int spawn_lows(catapults_t *threads, int lows) {
    for (int i = 0; i < lows; i++)
        threads[i] = spawn(&low, compute);
    while (atomic_load(&computing) < lows)
        catapults_sleep(MS / 10);
    return lows;
}

static void join_all(const catapults_t *threads, int count) {
    for (int i = 0; i < count; i++)
        require(catapults_join(threads[i], NULL) == 0);
    require(atomic_load(&late) == 0);
}

static void round_of(int lows, void *(*start)(void *), catapults_t (*go)(void)) {
    catapults_t threads[2 * MOST];
    int count = 0;
    prepare();
    for (int i = 0; i < urgents; i++)
        threads[count++] = spawn(&urgent, start);
    catapults_sleep(MS);
    count += spawn_lows(threads + count, lows);
    if (go)
        threads[count++] = go();
    join_all(threads, count);
}

static void *tell_and_compute(void *argument) {
    for (int64_t end = catapults_now() + 2 * MS; catapults_now() < end;)
        ; /* the first thread waits for others then, and its processor for something to do */
    catapults_barrier_wait(&barrier);
    return compute(argument);
}

static catapults_t tell(void) { return spawn(&low, tell_and_compute); }

static void two_instants_and_one_idle(void) {
    begin(3);
    urgents = 2;
    for (int i = 0; i < ROUNDS; i++)
        round_of(2, sleep_and_come, NULL);
}

static void three_instants_and_one_idle(void) {
    begin(3);
    urgents = 3;
    for (int i = 0; i < ROUNDS; i++)
        round_of(2, sleep_and_come, NULL);
}

static void three_instants_and_two_idle(void) {
    begin(3);
    urgents = 3;
    for (int i = 0; i < ROUNDS; i++)
        round_of(1, sleep_and_come, NULL);
}

static void a_barrier(void) {
    begin(3);
    urgents = 2;
    for (int i = 0; i < ROUNDS; i++)
        round_of(1, wait_and_come, tell);
}

static catapults_sem_t wanted;

static void *wait_for_word_and_come(void *argument) {
    require(catapults_sem_wait(&wanted) == 0);
    return come(argument);
}

/* It says the word, and keeps its own processor. */
static void *say_and_compute(void *argument) {
    for (int i = 0; i < urgents; i++)
        require(catapults_sem_post(&wanted) == 0);
    return compute(argument);
}

static catapults_t say(void) { return spawn(&most_urgent, say_and_compute); }

/* The policy has one order, so that the least urgent gives way, wherever the event was raised. */
static void begin_in_order(int processors) {
    begin_under(POLICIES "/of_the_library/fixed_priority.so", processors);
    require(catapults_sem_init(&wanted, 0) == 0);
}

static void one_whose_waker_is_more_urgent(void) {
    begin_in_order(2);
    urgents = 1;
    for (int i = 0; i < ROUNDS; i++)
        round_of(1, wait_for_word_and_come, say);
}

static void two_whose_waker_is_more_urgent(void) {
    begin_in_order(3);
    urgents = 2;
    for (int i = 0; i < ROUNDS; i++)
        round_of(2, wait_for_word_and_come, say);
}

static void one_among_three_levels(void) {
    begin_in_order(3);
    urgents = 1;
    static struct task middle = {4};
    for (int i = 0; i < ROUNDS; i++) {
        prepare();
        catapults_t threads[4] = {spawn(&urgent, wait_for_word_and_come)};
        catapults_sleep(MS);
        spawn_lows(threads + 1, 1);
        threads[2] = spawn(&middle, compute);
        threads[3] = say();
        join_all(threads, 4);
    }
}

int main(int given, char **arguments) {
    if (given > 1)
        cmocka_set_test_filter(arguments[1]);
    const struct CMUnitTest tests[] = {
        child_test(two_instants_and_one_idle),      child_test(three_instants_and_one_idle),
        child_test(three_instants_and_two_idle),    child_test(a_barrier),
        child_test(one_whose_waker_is_more_urgent), child_test(two_whose_waker_is_more_urgent),
        child_test(one_among_three_levels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
