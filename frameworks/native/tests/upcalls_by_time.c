/*
 * Preemption by time where activations carry the processors: wherever the code is, and whoever else waits in the
 * kernel. What they have in common with other processors: preempted_activated.c, processors_activated.c.
 */
#include <errno.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>

#include "activations/activation.h"
#include "support/program.h"

enum { MS = 1000000, SPINNERS = 3 };

static _Atomic bool over;
static _Atomic unsigned long progress[SPINNERS];

static void begin(const char *policy, int processors) {
    alarm(HANGS);
    require(catapults_init(&(struct catapults_options){
                .policy = policy, .tick = 2 * MS, .activations = true, .processors = processors}) == 0);
}

static void *spin(void *number) {
    while (!over)
        progress[(intptr_t)number]++;
    return NULL;
}

static void spin_all(catapults_t threads[SPINNERS]) {
    for (intptr_t i = 0; i < SPINNERS; i++)
        threads[i] = spawn(spin, (void *)i);
}

static bool all_have_run(const unsigned long since[SPINNERS]) {
    for (int i = 0; i < SPINNERS; i++)
        if (progress[i] == since[i])
            return false;
    return true;
}

static void join_all(catapults_t threads[SPINNERS]) {
    over = true;
    for (int i = 0; i < SPINNERS; i++)
        require(catapults_join(threads[i], NULL) == 0);
}

/* ---- Only when somebody waits ------------------------------------------------------------------------------------ */

static bool is_armed(void) {
    struct itimerspec left;
    require(syscall(SYS_timer_gettime, sa_processors[0].timer, &left) == 0);
    return left.it_value.tv_sec || left.it_value.tv_nsec;
}

static void nobody_is_interrupted_for_nothing(void) {
    begin(POLICIES "/turns.so", 1);
    for (int64_t end = catapults_now() + 20 * MS; catapults_now() < end;)
        require(!is_armed());
    catapults_t thread = spawn(spin, (void *)0);
    while (progress[0] == 0)
        ;
    over = true;
    require(catapults_join(thread, NULL) == 0);
    while (is_armed()) /* until it has come, for nobody */
        ;
    for (int64_t end = catapults_now() + 20 * MS; catapults_now() < end;)
        require(!is_armed());
}

/* ---- Who waits in the kernel is not disturbed -------------------------------------------------------------------- */

enum { SLEEPS = 20, BEGUN_BESIDE_A_SIGNAL = 5 };

/*
 * The system call itself: a signal would end it. Each sleep lasts for five ticks. A few may end early, those that began
 * in the moment in which the thread was interrupted.
 */
static void *sleep_undisturbed(void *unused) {
    int ended_early = 0;
    for (int i = 0; i < SLEEPS; i++)
        if (nanosleep(&(struct timespec){0, 10 * MS}, NULL) != 0) {
            require(errno == EINTR);
            ended_early++;
        }
    require(ended_early <= BEGUN_BESIDE_A_SIGNAL);
    return unused;
}

static void sleep_beside_others(int processors) {
    begin(POLICIES "/turns.so", processors);
    catapults_t spinners[SPINNERS];
    spin_all(spinners);
    require(catapults_join(spawn(sleep_undisturbed, NULL), NULL) == 0);
    require(all_have_run((unsigned long[SPINNERS]){0}));
    join_all(spinners);
}
static void who_sleeps_is_not_disturbed(void) { sleep_beside_others(1); }
static void who_sleeps_is_not_disturbed_on_two(void) { sleep_beside_others(2); }

/* ---- Wherever the code is ---------------------------------------------------------------------------------------- */

/* Each is interrupted in the middle of malloc now and then, and has its lock. */
static void *allocate(void *number) {
    void *kept[16] = {NULL};
    for (unsigned i = 0; !over; i++) {
        unsigned at = (i * 7 + (unsigned)(intptr_t)number) % 16;
        free(kept[at]);
        kept[at] = malloc(16 + i * 37 % 5000);
        require(kept[at]);
        *(volatile char *)kept[at] = 'x';
        progress[(intptr_t)number]++;
    }
    for (int i = 0; i < 16; i++)
        free(kept[i]);
    return NULL;
}

static void allocate_in_turns(int processors) {
    begin(POLICIES "/turns.so", processors);
    catapults_t threads[SPINNERS];
    for (intptr_t i = 0; i < SPINNERS; i++)
        threads[i] = spawn(allocate, (void *)i);
    for (int round = 0; round < 10; round++) {
        unsigned long since[SPINNERS];
        for (int i = 0; i < SPINNERS; i++)
            since[i] = progress[i];
        while (!all_have_run(since))
            catapults_sleep(5 * MS);
    }
    join_all(threads);
}
static void who_is_in_malloc_is_preempted(void) { allocate_in_turns(1); }
static void who_is_in_malloc_is_preempted_on_two(void) { allocate_in_turns(2); }

/* Code that is not to be left: nobody else gets in between. */
static volatile int inside;

static void *be_alone(void *number) {
    while (!over) {
        catapults_preemption_hold();
        require(inside++ == 0);
        for (volatile int i = 0; i < 300000; i++)
            ;
        require(--inside == 0);
        catapults_preemption_release();
        progress[(intptr_t)number]++;
        for (volatile int i = 0; i < 1000; i++)
            ;
    }
    return NULL;
}

static void who_holds_the_processor_is_not_preempted(void) {
    begin(POLICIES "/turns.so", 1);
    catapults_t threads[SPINNERS];
    for (intptr_t i = 0; i < SPINNERS; i++)
        threads[i] = spawn(be_alone, (void *)i);
    while (!all_have_run((unsigned long[SPINNERS]){0}))
        catapults_sleep(5 * MS);
    join_all(threads);
}

/* ---- Fork -------------------------------------------------------------------------------------------------------- */

static void fork_beside_others(int processors) {
    begin(POLICIES "/turns.so", processors);
    catapults_t threads[SPINNERS];
    spin_all(threads);
    while (!all_have_run((unsigned long[SPINNERS]){0}))
        catapults_sleep(5 * MS);
    for (int i = 0; i < 5; i++) {
        pid_t child = catapults_fork();
        require(child >= 0);
        if (child == 0) {
            unsigned long before = progress[0];
            alarm(HANGS);
            spawn(spin, (void *)0);
            while (progress[0] == before) /* it is preempted, too */
                ;
            _exit(0);
        }
        int status;
        require(waitpid(child, &status, 0) == child && status == 0);
    }
    join_all(threads);
}
static void children_are_preempted(void) { fork_beside_others(1); }
static void children_are_preempted_on_two(void) { fork_beside_others(2); }

/* Who has the lock of malloc is less urgent than who computes, and that less than who forks. */
static void *compute_now_and_then(void *unused) {
    while (!over) {
        catapults_sleep(3 * MS);
        for (int64_t end = catapults_now() + 400 * MS; catapults_now() < end && !over;)
            ;
    }
    return unused;
}

static catapults_t spawn_urgent(int priority, void *(*start)(void *)) {
    catapults_t thread;
    const struct catapults_value value = catapults_value_int("priority", priority);
    const struct catapults_attributes attributes = {.values = &value, .values_count = 1};
    require(catapults_create(&thread, &attributes, start, NULL) == 0);
    return thread;
}

static void *fork_often(void *unused) {
    for (int i = 0; i < 10; i++) {
        catapults_sleep((20 + 3 * i) * MS);
        int64_t began = catapults_now();
        pid_t child = catapults_fork();
        if (child == 0)
            _exit(0);
        require(child > 0 || (errno == EAGAIN && catapults_now() - began >= 200 * MS));
        int status;
        require(child < 0 || (waitpid(child, &status, 0) == child && status == 0));
        catapults_sleep(100 * MS);
    }
    over = true;
    return unused;
}

static void fork_beside_who_allocates(int processors) {
    begin(POLICIES "/urgency.so", processors);
    catapults_t threads[] = {spawn_urgent(9, fork_often), spawn_urgent(5, compute_now_and_then),
                             spawn_urgent(5, processors > 1 ? compute_now_and_then : allocate), spawn(allocate, NULL)};
    for (int i = 0; i < 4; i++)
        require(catapults_join(threads[i], NULL) == 0);
}
static void fork_does_not_wait_for_ever(void) { fork_beside_who_allocates(1); }
static void fork_does_not_wait_for_ever_on_two(void) { fork_beside_who_allocates(2); }

int main(void) {
    const struct CMUnitTest tests[] = {
        child_test(nobody_is_interrupted_for_nothing),
        child_test(who_sleeps_is_not_disturbed),
        child_test(who_sleeps_is_not_disturbed_on_two),
        child_test(who_is_in_malloc_is_preempted),
        child_test(who_is_in_malloc_is_preempted_on_two),
        child_test(who_holds_the_processor_is_not_preempted),
        child_test(children_are_preempted),
        child_test(children_are_preempted_on_two),
        child_test(fork_does_not_wait_for_ever),
        child_test(fork_does_not_wait_for_ever_on_two),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
