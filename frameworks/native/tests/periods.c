/*
 * Jobs: which there are, what happens meanwhile, and what the policy hears of them. periods_activated.c has the same on
 * activations.
 */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>

#include "support/jobs.h"

#ifndef ACTIVATIONS
#define ACTIVATIONS false
#endif

static catapults_int on_time, at_work;
static bool gives_way;

static void begin_with(const char *policy) {
    require(catapults_init(&(struct catapults_options){.policy = policy, .activations = ACTIVATIONS}) == 0);
}

static void begin(void) {
    begin_with(POLICIES "/jobs.so");
    have_heard();
    require(catapults_schedvar_register("on_time", &on_time) == 0);
    require(catapults_schedvar_register("at_work", &at_work) == 0);
    require(catapults_schedvar_register_bool("gives_way", &gives_way) == 0);
}

/* ---- Which there are --------------------------------------------------------------------------------------------- */

static void a_thread_without_a_period_has_none(void) {
    begin();
    int64_t instant;
    require(catapults_next_period(NULL) == EINVAL && catapults_release(&instant) == EINVAL);
    require(catapults_set_period(-1) == EINVAL);
    struct worker worker = {.period = -1};
    struct catapults_attributes attributes = {.period = -1};
    require(catapults_create(NULL, &attributes, work, &worker) == EINVAL);
    catapults_set_object(catapults_self(), &worker);
    int64_t before = catapults_now();
    require(catapults_set_period(LONG) == 0);
    require(worker.begun == 1 && worker.heard == released() && before <= released() && released() <= catapults_now());
    require(catapults_set_period(0) == 0 && catapults_next_period(NULL) == EINVAL && worker.begun == 1);
}

static void jobs_are_a_period_apart(void) {
    begin();
    struct worker worker = {.period = 300 * US, .jobs = 100};
    join(spawn(work, &worker));
    require(worker.begun == 100 && on_time + at_work == 100 && at_work >= 100 / 7);
}

static void *be_late(void *worker_) {
    struct worker *worker = worker_;
    int64_t first = released();
    spin_until(first + 3 * worker->period);
    require(next(worker) >= 3);
    /* None is left out: each of the others begins at once. */
    require(next(worker) >= 2);
    require(next(worker) >= 1);
    return worker;
}

static void a_late_one_begins_at_once(void) {
    begin();
    struct worker worker = {.period = 2 * MS};
    join(spawn(be_late, &worker));
    require(at_work >= 3);
}

static void *sleep_in_between(void *worker_) {
    struct worker *worker = worker_;
    for (int i = 0; i < 5; i++)
        catapults_sleep(100 * US);
    require(worker->begun == 0);
    return worker;
}

static void a_sleep_ends_no_job(void) {
    begin();
    struct worker worker = {.period = LONG};
    join(spawn(sleep_in_between, &worker));
    require(on_time == 0 && at_work == 0);
}

/* ---- What can happen meanwhile ----------------------------------------------------------------------------------- */

static _Atomic int turns;

static void *take_a_turn(void *argument) {
    turns++;
    return argument;
}

static void *lose_the_processor(void *worker_) {
    struct worker *worker = worker_;
    spin_until(released() + worker->period);
    turns = 0;
    catapults_t other;
    require(catapults_create(&other, NULL, take_a_turn, NULL) == 0);
    gives_way = true;
    next(worker);
    require(turns == 1);
    join(other);
    return worker;
}

static void who_is_late_can_lose_the_processor(void) {
    begin();
    struct worker worker = {.period = 500 * US};
    join(spawn(lose_the_processor, &worker));
}

static void *wait_for_ever(void *worker_) {
    turns++;
    require(catapults_next_period(NULL) == 0);
    require(false);
    return worker_;
}

static void who_waits_for_a_job_can_be_cancelled(void) {
    begin();
    struct worker worker = {.period = LONG};
    catapults_t thread = spawn(wait_for_ever, &worker);
    while (turns == 0)
        catapults_yield();
    require(catapults_cancel(thread) == 0);
    void *result;
    require(catapults_join(thread, &result) == 0 && result == CATAPULTS_CANCELED);
    require(worker.begun == 0 && on_time == 0 && at_work == 0);
}

static _Atomic int handled;
static void handle(int number) { handled += number == SIGUSR1; }

static void who_waits_goes_on_waiting_after_a_handler(void) {
    begin();
    struct sigaction action = {.sa_handler = handle};
    require(catapults_sigaction(SIGUSR1, &action, NULL) == 0);
    struct worker worker = {.period = LONG};
    catapults_t thread = spawn(wait_for_ever, &worker);
    while (turns == 0)
        catapults_yield();
    for (int i = 1; i <= 3; i++) {
        require(catapults_kill(thread, SIGUSR1) == 0);
        while (handled < i)
            catapults_yield();
    }
    require(worker.begun == 0);
    require(catapults_cancel(thread) == 0 && catapults_join(thread, NULL) == 0);
}

static void *wait_once(void *worker_) {
    struct worker *worker = worker_;
    turns++;
    next(worker);
    turns++;
    return worker;
}

static void who_is_suspended_meanwhile_hears_of_the_job(void) {
    begin();
    struct worker worker = {.period = 3 * MS};
    catapults_t thread = spawn(wait_once, &worker);
    while (turns == 0)
        catapults_yield();
    int suspended = catapults_suspend(thread);
    require(suspended == 0 || turns == 2); /* it may have ended before that */
    while (worker.begun == 0)
        catapults_sleep(MS);
    require(turns == 1 || turns == 2);
    (void)catapults_resume(thread);
    join(thread);
    require(worker.begun == 1);
}

static void a_child_goes_on_with_its_jobs(void) {
    begin();
    struct worker worker = {.period = 2 * MS};
    catapults_set_object(catapults_self(), &worker);
    require(catapults_set_period(worker.period) == 0);
    next(&worker);
    pid_t pid = catapults_fork();
    if (pid == 0) {
        next(&worker);
        next(&worker);
        _exit(0);
    }
    int status;
    require(waitpid(pid, &status, 0) == pid && status == 0);
    next(&worker);
}

/* ---- Many, and schedulers ---------------------------------------------------------------------------------------- */

static void of_many(void) {
    begin_with(POLICIES "/jobs.so");
    many();
}

static void of_a_scheduler_below(void) {
    begin_with(POLICIES "/urgency.so");
    below();
}

/* ---- What the policy reads --------------------------------------------------------------------------------------- */

static void the_period_is_told(void) {
    static catapults_time longest, latest;
    begin();
    require(catapults_schedvar_register_time("longest", &longest) == 0);
    require(catapults_schedvar_register_time("latest", &latest) == 0);
    struct worker worker = {.period = 3 * LONG};
    catapults_t thread = spawn(sleep_in_between, &worker);
    require(longest == 3 * LONG && latest == longest);
    join(thread);
    /* What the application says itself counts. */
    struct catapults_value value = catapults_value_time("period", 5 * LONG);
    struct catapults_attributes attributes = {
        .object = &worker, .period = 4 * LONG, .values = &value, .values_count = 1};
    require(catapults_create(&thread, &attributes, sleep_in_between, &worker) == 0);
    require(longest == 5 * LONG && latest == longest);
    join(thread);
    struct catapults_value deadline = catapults_value_time("deadline", 6 * LONG);
    attributes.values = &deadline;
    require(catapults_create(&thread, &attributes, sleep_in_between, &worker) == 0);
    require(longest == 5 * LONG && latest == 6 * LONG);
    join(thread);
    require(catapults_threadvar_register_time("release", struct worker, heard) == EEXIST);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        child_test(a_thread_without_a_period_has_none),
        child_test(jobs_are_a_period_apart),
        child_test(a_late_one_begins_at_once),
        child_test(a_sleep_ends_no_job),
        child_test(who_is_late_can_lose_the_processor),
        child_test(who_waits_for_a_job_can_be_cancelled),
        child_test(who_waits_goes_on_waiting_after_a_handler),
        child_test(who_is_suspended_meanwhile_hears_of_the_job),
        child_test(a_child_goes_on_with_its_jobs),
        child_test(of_many),
        child_test(of_a_scheduler_below),
        child_test(the_period_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
