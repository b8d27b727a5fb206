/*
 * Who is charged for the processor.
 */
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
    alarm(20);
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
        require(catapults_port_receive(&port, &message) == 0);
    } while (message->kind != CATAPULTS_NOTICE_EXITED);
    int64_t charge = catapults_consumed(catapults_self()) - before;
    of_other = catapults_consumed(other) - of_other;
    require(charge >= 6 * MILLISECOND && of_other > 0);
    require(charge + of_other <= catapults_now() - start);
    require(catapults_join(other, NULL) == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        child_test(each_is_charged_for_its_own),
        child_test(a_scheduler_is_charged_for_its_threads),
        child_test(who_lends_is_charged),
        child_test(a_thread_that_schedules_has_virtual_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
