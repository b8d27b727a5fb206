/*
 * Threads that never give up the processor, under policies that take it from them: by a timer of each thread
 * (policies/turns.sched) and by `tick` (policies/ticks.sched).
 */
#include <errno.h>
#include <time.h>

#include "support/program.h"
#include "support/running_time.h"

enum { MS = 1000000, MOST = 5 };

static volatile int over; /* as a bool, GCC reads it once under UndefinedBehaviorSanitizer */
static volatile unsigned long progress[MOST];

static void begin(const char *policy) {
    require(catapults_init(&(struct catapults_options){.policy = policy, .tick = 2 * MS}) == 0);
}

/* Of the whole process. */
static int64_t cpu_time(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

/* Neither calls nor yields. Its progress is the time for which it runs. */
static void *spin(void *number) {
    for (uint64_t before = running_counter(); !over;)
        progress[(intptr_t)number] += running_time(&before);
    return NULL;
}

/* Lets the others run until they have had so much of a CPU, however busy the machine is with other programs; or for a
 * minute. The main thread sleeps meanwhile, and is woken although nobody looks after it. */
static void let_run(int64_t nanoseconds) {
    const int64_t end = cpu_time() + nanoseconds, give_up = catapults_now() + 60000 * (int64_t)MS;
    while (cpu_time() < end && catapults_now() < give_up)
        catapults_sleep(20 * MS);
}

/* ---- Shares ------------------------------------------------------------------------------------------------------ */

static unsigned long all(void) {
    unsigned long sum = 0;
    for (int i = 0; i < MOST; i++)
        sum += progress[i];
    return sum;
}

/* The first that has less than half of its share, or more than twice that; -1: none. */
static int first_with_another_share(void) {
    const unsigned long share = all() / MOST;
    for (int i = 0; i < MOST; i++)
        if (progress[i] < share / 2 || progress[i] > share * 2)
            return i;
    return -1;
}

/* Other programs may take the CPU in the middle of a turn, and so give most of it to nobody: by and by that evens out.
 */
static void share(const char *policy) {
    begin(policy);
    catapults_t threads[MOST];
    for (intptr_t i = 0; i < MOST; i++)
        threads[i] = spawn(spin, (void *)i);
    const int64_t give_up = catapults_now() + 60000 * (int64_t)MS;
    do
        let_run(250 * MS);
    while (first_with_another_share() >= 0 && catapults_now() < give_up);
    const int another = first_with_another_share();
    if (another >= 0) {
        fprintf(stderr, "thread %d has %lu of %lu\n", another, progress[another], all());
        require(!"the shares are equal");
    }
    over = 1;
    for (int i = 0; i < MOST; i++)
        catapults_join(threads[i], NULL);
}

static void spinning_threads_share_by_turns(void) { share(POLICIES "/turns.so"); }

static void spinning_threads_share_by_ticks(void) { share(POLICIES "/ticks.so"); }

/* ---- No more than is needed -------------------------------------------------------------------------------------- */

#if !defined(ACTIVATED) /* there it leaves the processor: see upcalls_by_time.c */
/* A sleep of the whole kernel thread, which a signal would end. */
static int doze(int64_t nanoseconds) {
    struct timespec time = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
    return nanosleep(&time, NULL);
}

static void nobody_is_interrupted_for_nothing(void) {
    begin(POLICIES "/turns.so");
    require(doze(50 * MS) == 0);
    catapults_t thread = spawn(spin, (void *)0);
    for (int turn = 0; turn < 100 && progress[0] == 0; turn++)
        catapults_yield(); /* until its turn ends; on a busy machine before it has begun to count */
    require(progress[0] > 0);
    /* Long: the signal comes after 2 ms, but a sleep that is over before the CPU is free again is no interrupted one.
     */
    require(doze(20000 * (int64_t)MS) != 0 && errno == EINTR);
    over = 1;
    require(catapults_join(thread, NULL) == 0);
}
#endif

static void compute(int64_t nanoseconds) {
    for (int64_t end = catapults_now() + nanoseconds; catapults_now() < end;)
        for (volatile int i = 0; i < 1000; i++)
            ;
}

static void *note(void *number) {
    progress[(intptr_t)number]++;
    return NULL;
}

static void a_cooperative_program_is_not_preempted(void) {
    struct catapults_options options = {.policy = POLICIES "/turns.so", .cooperative = true};
    require(catapults_init(&options) == 0);
    catapults_t thread = spawn(note, (void *)0);
    compute(20 * MS);
    require(progress[0] == 0);
    require(catapults_join(thread, NULL) == 0);
}

static void the_first_come_first_served_preempts_nobody(void) {
    begin(NULL);
    catapults_t thread = spawn(note, (void *)0);
    compute(20 * MS);
    require(progress[0] == 0);
    require(catapults_join(thread, NULL) == 0);
}

static void a_thread_can_hold_the_processor(void) {
    begin(POLICIES "/turns.so");
    catapults_preemption_hold();
    catapults_preemption_hold();
    catapults_t thread = spawn(note, (void *)0);
    compute(20 * MS);
    catapults_preemption_release();
    compute(5 * MS);
    require(progress[0] == 0);
    catapults_preemption_release();
    for (int i = 0; i < 1000 && progress[0] == 0; i++)
        compute(10 * MS); /* that may be all that the CPU was away for */
    require(progress[0] == 1);
    require(catapults_join(thread, NULL) == 0);
}

/* ---- What a thread keeps ----------------------------------------------------------------------------------------- */

static void *keep_errno(void *number) {
    while (!over) {
        errno = (int)(intptr_t)number + 1;
        for (volatile int i = 0; i < 10000; i++)
            ;
        require(errno == (int)(intptr_t)number + 1);
        progress[(intptr_t)number]++;
    }
    return NULL;
}

static void errno_is_each_threads_own(void) {
    begin(POLICIES "/turns.so");
    catapults_t threads[MOST];
    for (intptr_t i = 0; i < MOST; i++)
        threads[i] = spawn(keep_errno, (void *)i);
    let_run(100 * MS);
    over = 1;
    for (int i = 0; i < MOST; i++) {
        require(catapults_join(threads[i], NULL) == 0);
        require(progress[i] > 0);
    }
}

/* Locks protect also against those who are let in between. */
static catapults_mutex_t lock;
static catapults_cond_t changed;
static volatile long inside, sum;

static void *add_up(void *number) {
    while (!over) {
        require(catapults_mutex_lock(&lock) == 0);
        require(inside++ == 0);
        for (volatile int i = 0; i < 1000; i++)
            ;
        require(--inside == 0);
        sum++;
        catapults_cond_signal(&changed);
        if (sum % 7 == (intptr_t)number % 7 && !over)
            catapults_cond_wait_until(&changed, &lock, catapults_now() + 2 * MS);
        require(catapults_mutex_unlock(&lock) == 0);
        progress[(intptr_t)number]++;
    }
    return NULL;
}

static void who_holds_a_lock_may_be_preempted(void) {
    begin(POLICIES "/turns.so");
    catapults_t threads[MOST];
    for (intptr_t i = 0; i < MOST; i++)
        threads[i] = spawn(add_up, (void *)i);
    let_run(100 * MS);
    over = 1;
    unsigned long all = 0;
    for (int i = 0; i < MOST; i++) {
        require(catapults_join(threads[i], NULL) == 0);
        require(progress[i] > 0);
        all += progress[i];
    }
    require(all == (unsigned long)sum);
}

/* Threads come and go while others are preempted. */
static void *live_briefly(void *argument) {
    for (volatile int i = 0; i < 20000; i++)
        ;
    return argument;
}

static void *make_threads(void *number) {
    while (!over) {
        void *result;
        require(catapults_join(spawn(live_briefly, number), &result) == 0 && result == number);
        progress[(intptr_t)number]++;
    }
    return NULL;
}

static void threads_come_and_go(void) {
    begin(POLICIES "/turns.so");
    catapults_t threads[MOST];
    for (intptr_t i = 0; i < MOST; i++)
        threads[i] = spawn(i % 2 ? spin : make_threads, (void *)i);
    let_run(100 * MS);
    over = 1;
    for (int i = 0; i < MOST; i++) {
        require(catapults_join(threads[i], NULL) == 0);
        require(progress[i] > 0);
    }
}

int main(void) {
#if defined(ACTIVATED)
    setenv("CATAPULTS_ACTIVATIONS", "1", 1);
#endif
    const struct CMUnitTest tests[] = {
        child_test(spinning_threads_share_by_turns),        child_test(spinning_threads_share_by_ticks),
#if !defined(ACTIVATED)
        child_test(nobody_is_interrupted_for_nothing),
#endif
        child_test(a_cooperative_program_is_not_preempted), child_test(the_first_come_first_served_preempts_nobody),
        child_test(a_thread_can_hold_the_processor),        child_test(errno_is_each_threads_own),
        child_test(who_holds_a_lock_may_be_preempted),      child_test(threads_come_and_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
