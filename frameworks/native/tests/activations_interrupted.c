/*
 * Interruptions of what runs: USER upcalls by sa_preempt, sa_interrupt and sa_alarm, and holds and sections, which put
 * them off.
 */
#include "activations_test.h"

/* ---- USER -------------------------------------------------------------------------------------------------------- */

static void user_upcalls_share_a_processor(void) {
    start(1);
    small_create(&threads[0], spin, (void *)0);
    small_create(&threads[1], spin, (void *)1);
    pthread_t other;
    require(pthread_create(&other, NULL, preempt_often, NULL) == 0);
    require(eventually(turns[0] > 1000 && turns[1] > 1000 && count(SA_UPCALL_USER) > 10));
    stop = true;
    small_join(&threads[0]);
    small_join(&threads[1]);
}

/* One that waits to go on is not interrupted by what was meant for the processor that it has not: nobody would get
 * further if all were. */
static void waiting_threads_are_not_interrupted(void) {
    start(1);
    small_create(&threads[0], spin, (void *)0);
    require(sa_alarm(0, now() + 5 * MILLISECOND) == 0);
    small_yield();
    require(turns[0] > 0 && count(SA_UPCALL_USER) == 1);
    int waiting = 0;
    sa_hold();
    for (int id = 1; id <= activations.lwps; id++)
        if (lwp_state(&sa_lwps[id - 1]) == LWP_PARKED) {
            require(sa_preempt(id) == -1 && errno == ESRCH);
            waiting++;
        }
    sa_release();
    require(waiting == 1);
    stop = true;
    small_join(&threads[0]);
    require(count(SA_UPCALL_USER) == 1);
}

static void *interrupt_often(void *processors) {
    while (!stop) {
        usleep(1000);
        for (int i = 0; i < (int)(intptr_t)processors; i++)
            sa_interrupt(i);
    }
    return NULL;
}

/* Whoever runs is interrupted, and each in its turn. */
static void processors_are_interrupted(void) {
    start(1);
    small_create(&threads[0], spin, (void *)0);
    small_create(&threads[1], spin, (void *)1);
    pthread_t other;
    require(pthread_create(&other, NULL, interrupt_often, (void *)1) == 0);
    require(eventually(turns[0] > 1000 && turns[1] > 1000 && count(SA_UPCALL_USER) > 10));
    stop = true;
    small_join(&threads[0]);
    small_join(&threads[1]);
}

static void interruptions_wait_for_the_end_of_a_hold(void) {
    start(1);
    sa_hold();
    require(sa_interrupt(0) == 0);
    usleep(2000);
    require(count(SA_UPCALL_USER) == 0);
    sa_release();
    require(eventually(count(SA_UPCALL_USER) == 1)); /* the next look at it may have been planned for later */
}

static void alarms_interrupt_a_processor(void) {
    start(1);
    int64_t began = now();
    for (int i = 1; i <= 10; i++) {
        require(sa_alarm(0, now() + 5 * MILLISECOND) == 0);
        require(eventually(count(SA_UPCALL_USER) == i) && now() - began >= i * 5 * MILLISECOND);
    }
    require(sa_alarm(0, now() + 5 * MILLISECOND) == 0 && sa_alarm(0, 0) == 0);
    usleep(20000);
    require(count(SA_UPCALL_USER) == 10);
    ssize_t result;
    require(pipe(ends) == 0);
    small_create(&threads[0], read_pipe, &result);
    small_yield(); /* it blocks */
    require(sa_alarm(0, -1) == 0);
    require(eventually(count(SA_UPCALL_USER) == 11));
    require(!done && write(ends[1], "x", 1) == 1);
    small_join(&threads[0]);
}

static void alarms_are_of_processors(void) {
    start(1);
    require(sa_register(small_upcall, NULL, SA_FLAG_FIXED, -1) == 0 && sa_setconcurrency(2) == 2);
    require(eventually(count(SA_UPCALL_NEWPROC) == 2));
    small_create(&threads[0], spin, (void *)0);
    require(eventually(turns[0] > 1000));
    for (int i = 1; i <= 10; i++) {
        require(sa_alarm(i % 2, now() + MILLISECOND) == 0);
        require(eventually(count(SA_UPCALL_USER) >= i));
    }
    stop = true;
    small_join(&threads[0]);
}

/* ---- Sections ---------------------------------------------------------------------------------------------------- */

static _Atomic bool interrupted_inside, in_critical;

__attribute__((section("sections_test"), noinline)) static void critical(int64_t limit) {
    for (volatile int64_t i = 0; i < limit; i++)
        in_critical = i + 1 < limit;
}
extern const char __start_sections_test[], __stop_sections_test[];

static void look_inside(void *unused) {
    (void)unused;
    while (!stop) {
        if (in_critical)
            interrupted_inside = true;
        small_yield();
    }
}

static void sections_are_not_interrupted(void) {
    require(sa_sections(1, &(struct sa_section){__stop_sections_test, __start_sections_test}) == -1 && errno == EINVAL);
    require(sa_sections(1, &(struct sa_section){__start_sections_test, __stop_sections_test}) == 0);
    struct sa_section many[20];
    for (int i = 0; i < 20; i++)
        many[i] = (struct sa_section){__start_sections_test, __stop_sections_test};
    require(sa_sections(20, many) == -1 && errno == ENOSPC);
    start(1);
    pthread_t other;
    require(pthread_create(&other, NULL, preempt_often, NULL) == 0);
    small_create(&threads[0], look_inside, NULL);
    int64_t limit = now() + 5000 * MILLISECOND;
    while (count(SA_UPCALL_USER) < 10 && now() < limit)
        for (int i = 0; i < 1000; i++)
            critical(20);
    int users = count(SA_UPCALL_USER);
    for (int i = 0; i < 30; i++) {
        sa_hold();
        critical(100000);
        sa_release();
        small_yield();
    }
    stop = true;
    small_join(&threads[0]);
    require(users >= 10 && !interrupted_inside);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        child_test(user_upcalls_share_a_processor), child_test(waiting_threads_are_not_interrupted),
        child_test(processors_are_interrupted),     child_test(interruptions_wait_for_the_end_of_a_hold),
        child_test(alarms_interrupt_a_processor),   child_test(alarms_are_of_processors),
        child_test(sections_are_not_interrupted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
