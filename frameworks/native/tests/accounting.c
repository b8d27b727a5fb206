/*
 * Who is charged for the processor.
 */
#include <errno.h>
#include <time.h>

#include "catapults.h"
#include "support/child.h"

enum { MILLISECOND = 1000000 };

static catapults_mutex_t mutex = CATAPULTS_MUTEX_INITIALIZER;
static int64_t consumed_by_high, consumed_by_low;

struct task {
    catapults_int priority;
};

static void begin(const char *policy) {
    require(catapults_init(&(struct catapults_options){.policy = policy}) == 0);
    alarm(HANGS);
    catapults_account();
}

/* Busy for so long, and yields now and then. */
static void *spend(void *milliseconds) {
    int64_t mine = 0, before = catapults_consumed(catapults_self());
    while (mine < (intptr_t)milliseconds * MILLISECOND) {
        for (int64_t end = catapults_now() + MILLISECOND / 10; catapults_now() < end;)
            ;
        catapults_yield();
        mine = catapults_consumed(catapults_self()) - before;
    }
    return (void *)(intptr_t)mine;
}

static catapults_t spawn(catapults_scheduler_t scheduler, intptr_t milliseconds) {
    catapults_t thread;
    struct catapults_attributes attributes = {.scheduler = scheduler};
    require(catapults_create(&thread, &attributes, spend, (void *)milliseconds) == 0);
    return thread;
}

static void each_is_charged_for_its_own(void) {
    begin(NULL);
    int64_t start = catapults_now(), own = catapults_consumed(catapults_self());
    catapults_t threads[] = {spawn(NULL, 2), spawn(NULL, 4), spawn(NULL, 6)};
    catapults_sleep(5 * MILLISECOND); /* costs nothing */
    void *result;
    int64_t sum = 0;
    for (int i = 0; i < 3; i++) {
        require(catapults_join(threads[i], &result) == 0 && (intptr_t)result >= 2 * (i + 1) * MILLISECOND);
        sum += (intptr_t)result;
    }
    own = catapults_consumed(catapults_self()) - own;
    require(own >= 0 && sum + own <= catapults_now() - start);
}

static void a_scheduler_is_charged_for_its_threads(void) {
    begin(NULL);
    catapults_scheduler_t one, other;
    require(catapults_scheduler_add(&one, &(struct catapults_scheduler_attributes){.name = "one"}) == 0);
    require(catapults_scheduler_add(&other, &(struct catapults_scheduler_attributes){.name = "other"}) == 0);
    int64_t start = catapults_now();
    catapults_t threads[] = {spawn(one, 2), spawn(one, 3), spawn(other, 4)};
    int64_t consumed[3];
    for (int i = 0; i < 3; i++) {
        void *result;
        require(catapults_join(threads[i], &result) == 0);
        consumed[i] = (intptr_t)result;
    }
    int64_t of_one = catapults_scheduler_consumed(one), of_other = catapults_scheduler_consumed(other);
    require(of_one >= consumed[0] + consumed[1] && of_other >= consumed[2]);
    require(of_one + of_other <= catapults_now() - start);
}

static void *wait_for_the_lock(void *argument) {
    require(catapults_mutex_lock(&mutex) == 0);
    require(catapults_mutex_unlock(&mutex) == 0);
    consumed_by_high = catapults_consumed(catapults_self());
    return argument;
}

/* Its work is done on the turn of who waits for it (1996, §4.4.2). */
static void *hold_the_lock(void *argument) {
    require(catapults_mutex_lock(&mutex) == 0);
    static struct task urgent = {9};
    struct catapults_attributes attributes = {.object = &urgent};
    require(catapults_create(NULL, &attributes, wait_for_the_lock, NULL) == 0);
    int64_t before = catapults_consumed(catapults_self());
    for (int64_t end = catapults_now() + 3 * MILLISECOND; catapults_now() < end;)
        ;
    consumed_by_low = catapults_consumed(catapults_self()) - before;
    require(catapults_mutex_unlock(&mutex) == 0);
    return argument;
}

static void who_lends_is_charged(void) {
    begin(POLICIES "/urgency.so");
    catapults_threadvar_register("priority", struct task, priority);
    static struct task least, low = {1};
    catapults_set_object(catapults_self(), &least);
    struct catapults_attributes attributes = {.object = &low};
    catapults_t thread;
    require(catapults_create(&thread, &attributes, hold_the_lock, NULL) == 0);
    require(catapults_join(thread, NULL) == 0);
    require(consumed_by_high >= 3 * MILLISECOND && consumed_by_low == 0);
}

static catapults_port_t port = CATAPULTS_PORT_INITIALIZER;

static void compute(int64_t nanoseconds) {
    for (int64_t end = catapults_now() + nanoseconds; catapults_now() < end;)
        ;
}

static void *work_and_sleep(void *argument) {
    compute(3 * MILLISECOND);
    catapults_sleep(5 * MILLISECOND);
    compute(3 * MILLISECOND);
    return argument;
}

/* Its own time is the virtual time by which it can charge its clients (§4.4.1): it stands still while others run. */
static void a_thread_that_schedules_has_virtual_time(void) {
    begin(NULL);
    catapults_t client, other = spawn(NULL, 4);
    struct catapults_attributes attributes = {.scheduled_by = &port, .detached = true};
    require(catapults_create(&client, &attributes, work_and_sleep, NULL) == 0);
    struct catapults_message *message;
    require(catapults_port_receive(&port, &message) == 0 && message->kind == CATAPULTS_NOTICE_READY);
    int64_t start = catapults_now(), before = catapults_consumed(catapults_self());
    int64_t of_other = catapults_consumed(other);
    do {
        require(catapults_schedule(client, &port, CATAPULTS_WAKEUP_ON_CONFLICT) == 0);
        /* What came may have been taken back since, by a client that is ready again. */
    } while (catapults_port_tryreceive(&port, &message) != 0 || message->kind != CATAPULTS_NOTICE_EXITED);
    int64_t charge = catapults_consumed(catapults_self()) - before;
    of_other = catapults_consumed(other) - of_other;
    require(charge >= 6 * MILLISECOND && of_other > 0);
    require(charge + of_other <= catapults_now() - start);
    require(catapults_join(other, NULL) == 0);
}

/* ---- Statistical ------------------------------------------------------------------------------------------------- */

static void begin_to_sample(const char *policy) {
    require(catapults_init(
                &(struct catapults_options){.policy = policy, .accounting = CATAPULTS_ACCOUNTING_STATISTICAL}) == 0);
    alarm(HANGS);
    catapults_account();
}

/* Of the kernel thread. */
static int64_t processor_time(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * 1000 * (int64_t)MILLISECOND + time.tv_nsec;
}

static int64_t use_processor(int64_t nanoseconds) {
    int64_t before = processor_time(), now;
    while ((now = processor_time()) < before + nanoseconds)
        ;
    return now - before;
}

struct worker {
    int64_t turn; /* of the kernel thread's time */
    int turns;
    int64_t own;         /* what it has used */
    int64_t consumed;    /* and what it is charged for */
    catapults_time told; /* what the policy was told of that */
};

static void *take_turns(void *argument) {
    struct worker *self = argument;
    for (int i = 0; i < self->turns; i++) {
        self->own += use_processor(self->turn);
        catapults_yield();
    }
    self->consumed = catapults_consumed(catapults_self());
    return argument;
}

/* `least` to `most` per cent of it. */
static bool is_about(int64_t value, int64_t of, int least, int most) {
    return value >= of * least / 100 && value <= of * most / 100;
}

static void run_workers(struct worker *workers, int count) {
    catapults_t threads[4];
    for (int i = 0; i < count; i++)
        require(catapults_create(&threads[i], &(struct catapults_attributes){.object = &workers[i]}, take_turns,
                                 &workers[i]) == 0);
    for (int i = 0; i < count; i++)
        require(catapults_join(threads[i], NULL) == 0);
}

/* Where other processes have the CPU, too, the kernel finds late that ticks have passed: a measurement may be repeated,
 * the more often the busier the machine. */
static void sooner_or_later(bool (*measure)(void)) {
    while (!measure())
        ;
}

static bool measure_long_turns(void) {
    struct worker workers[] = {{.turn = 60 * MILLISECOND, .turns = 3},
                               {.turn = 120 * MILLISECOND, .turns = 3},
                               {.turn = 180 * MILLISECOND, .turns = 3}};
    run_workers(workers, 3);
    int64_t own = 0, consumed = 0;
    bool found = true;
    for (int i = 0; i < 3; i++) {
        own += workers[i].own;
        consumed += workers[i].consumed;
        found = found && is_about(workers[i].consumed, workers[i].own, 70, 130);
    }
    return found && is_about(consumed, own, 90, 110);
}

static void shares_of_long_turns_are_found(void) {
    begin_to_sample(NULL);
    sooner_or_later(measure_long_turns);
}

/* Each is much shorter than a tick, so who is charged for one is chance. */
static bool measure_short_turns(void) {
    struct worker workers[] = {{.turn = MILLISECOND / 20, .turns = 8000}, {.turn = MILLISECOND / 10, .turns = 8000}};
    run_workers(workers, 2);
    return is_about(workers[0].consumed, workers[0].own, 70, 130) &&
           is_about(workers[1].consumed, workers[1].own, 80, 120);
}

static void shares_of_short_turns_are_found(void) {
    begin_to_sample(NULL);
    sooner_or_later(measure_short_turns);
}

static void nobody_is_charged_for_idle_time(void) {
    begin_to_sample(NULL);
    int64_t before = catapults_consumed(catapults_self());
    for (int i = 0; i < 20; i++)
        catapults_sleep(10 * MILLISECOND);
    require(catapults_consumed(catapults_self()) - before <= 40 * MILLISECOND);
}

static void *wait_and_see(void *argument) {
    require(catapults_mutex_lock(&mutex) == 0);
    require(catapults_mutex_unlock(&mutex) == 0);
    consumed_by_high = catapults_consumed(catapults_self());
    return argument;
}

static void *hold_and_compute(void *argument) {
    require(catapults_mutex_lock(&mutex) == 0);
    static struct task urgent = {9};
    catapults_t waits;
    require(catapults_create(&waits, &(struct catapults_attributes){.object = &urgent}, wait_and_see, NULL) == 0);
    int64_t before = catapults_consumed(catapults_self());
    use_processor(200 * MILLISECOND);
    consumed_by_low = catapults_consumed(catapults_self()) - before;
    require(catapults_mutex_unlock(&mutex) == 0);
    require(catapults_join(waits, NULL) == 0);
    return argument;
}

static bool measure_lending(void) {
    static struct task low = {1};
    catapults_t thread;
    require(catapults_create(&thread, &(struct catapults_attributes){.object = &low}, hold_and_compute, NULL) == 0);
    require(catapults_join(thread, NULL) == 0);
    return consumed_by_high >= 120 * MILLISECOND && consumed_by_low <= 60 * MILLISECOND;
}

static void who_lends_is_charged_by_samples(void) {
    begin_to_sample(POLICIES "/urgency.so");
    catapults_threadvar_register("priority", struct task, priority);
    static struct task least;
    catapults_set_object(catapults_self(), &least);
    sooner_or_later(measure_lending);
}

static catapults_scheduler_t one, other;

static bool measure_schedulers(void) {
    int64_t of_one = catapults_scheduler_consumed(one), of_other = catapults_scheduler_consumed(other);
    struct worker workers[] = {{.turn = 40 * MILLISECOND, .turns = 2}, {.turn = 100 * MILLISECOND, .turns = 2}};
    catapults_t threads[2];
    for (int i = 0; i < 2; i++)
        require(catapults_create(&threads[i], &(struct catapults_attributes){.scheduler = i ? other : one}, take_turns,
                                 &workers[i]) == 0);
    for (int i = 0; i < 2; i++)
        require(catapults_join(threads[i], NULL) == 0);
    of_one = catapults_scheduler_consumed(one) - of_one;
    of_other = catapults_scheduler_consumed(other) - of_other;
    require(of_one >= workers[0].consumed && of_other >= workers[1].consumed);
    if (of_one != workers[0].consumed || of_other != workers[1].consumed)
        return false; /* one ended just as it was sampled: it had looked before */
    return is_about(workers[0].consumed + workers[1].consumed, workers[0].own + workers[1].own, 70, 130);
}

/* And so are the schedulers above. */
static void schedulers_are_charged_by_samples(void) {
    begin_to_sample(NULL);
    require(catapults_scheduler_add(&one, &(struct catapults_scheduler_attributes){.name = "one"}) == 0);
    require(catapults_scheduler_add(&other, &(struct catapults_scheduler_attributes){.name = "other"}) == 0);
    sooner_or_later(measure_schedulers);
}

static bool measure_what_is_told(void) {
    struct worker worker = {.turn = 50 * MILLISECOND, .turns = 4};
    run_workers(&worker, 1);
    require(worker.consumed >= worker.told);
    return is_about(worker.told, worker.own, 60, 130);
}

/* From the start: it imports `consumed`. */
static void a_policy_is_told_of_samples(void) {
    setenv("CATAPULTS_ACCOUNTING", "statistical", 1);
    require(catapults_init(&(struct catapults_options){.policy = POLICIES "/clock.so"}) == 0);
    alarm(HANGS);
    require(catapults_threadvar_register_time("spent", struct worker, told) == 0);
    struct worker own = {.turn = 0};
    catapults_set_object(catapults_self(), &own);
    sooner_or_later(measure_what_is_told);
}

static bool measure_own(void) {
    int64_t before = catapults_consumed(catapults_self()), own = use_processor(100 * MILLISECOND);
    return is_about(catapults_consumed(catapults_self()) - before, own, 40, 160);
}

static void a_child_of_fork_samples_too(void) {
    begin_to_sample(NULL);
    pid_t child = catapults_fork();
    if (child == 0) {
        sooner_or_later(measure_own);
        _exit(EXIT_SUCCESS);
    }
    int status;
    require(waitpid(child, &status, 0) == child && status == 0);
}

static void another_way_to_account(void) {
    setenv("CATAPULTS_ACCOUNTING", "guesses", 1);
    require(catapults_init(NULL) == 0);
}

static void what_cannot_be_is_said(void **state) {
    (void)state;
    struct child child = run_child(another_way_to_account);
    assert_exit(&child, EXIT_SUCCESS);
    assert_string_equal(child.report, "catapults: CATAPULTS_ACCOUNTING is \"guesses\": it must be \"time-stamps\" or "
                                      "\"statistical\"\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        child_test(each_is_charged_for_its_own),
        child_test(a_scheduler_is_charged_for_its_threads),
        child_test(who_lends_is_charged),
        child_test(a_thread_that_schedules_has_virtual_time),
        child_test(shares_of_long_turns_are_found),
        child_test(shares_of_short_turns_are_found),
        child_test(nobody_is_charged_for_idle_time),
        child_test(who_lends_is_charged_by_samples),
        child_test(schedulers_are_charged_by_samples),
        child_test(a_policy_is_told_of_samples),
        child_test(a_child_of_fork_samples_too),
        cmocka_unit_test(what_cannot_be_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
