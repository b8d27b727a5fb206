/*
 * A limit to how long a ready thread may wait: policies/bytes.c prefers those with more bytes left, for ever.
 */
#include "catapults.h"
#include "support/child.h"

enum { MILLISECOND = 1000000 };

struct request {
    bool urgent;
    catapults_int bytesleft;
};

static int turns[3];
static bool stop;

static void *count(void *turns) {
    while (!stop) {
        ++*(int *)turns;
        catapults_yield();
    }
    return turns;
}

static catapults_t spawn(const char *name, int which, struct request *request, catapults_scheduler_t scheduler) {
    catapults_t thread;
    struct catapults_attributes attributes = {.name = name, .object = request, .scheduler = scheduler};
    require(catapults_create(&thread, &attributes, count, &turns[which]) == 0);
    return thread;
}

static void begin(const char *policy, int64_t limit) {
    require(catapults_init(&(struct catapults_options){.policy = policy, .starvation_limit = limit}) == 0);
    require(catapults_threadvar_register("bytesleft", struct request, bytesleft) == 0);
}

static void yield_for(int64_t duration) {
    for (int64_t end = catapults_now() + duration; catapults_now() < end;)
        catapults_yield();
}

/* Until that scheduler's policy is the built-in one. The machine may be busy with others: decisions count, too. */
static void yield_until_out(catapults_scheduler_t scheduler) {
    for (int i = 0; i < 100 && strcmp(catapults_scheduler_policy_name(scheduler), "fifo (built-in)") != 0; i++)
        yield_for(100 * MILLISECOND);
    require(strcmp(catapults_scheduler_policy_name(scheduler), "fifo (built-in)") == 0);
    for (int i = 0; i < 100; i++)
        catapults_yield(); /* a turn for each, every time */
}

/* The caller and `first` have as many bytes left, and take turns. */
static void starve(int64_t limit) {
    static struct request first = {.bytesleft = 7}, second = {.bytesleft = 1};
    begin(POLICIES "/bytes.so", limit);
    catapults_t threads[] = {spawn("first", 0, &first, NULL), spawn("second", 1, &second, NULL)};
    yield_for(150 * MILLISECOND);
    if (limit > 0)
        yield_until_out(catapults_scheduler_root());
    else
        require(strcmp(catapults_policy_name(), "bytes") == 0);
    stop = true;
    for (int i = 0; i < 2; i++)
        require(catapults_join(threads[i], NULL) == 0);
}

static void starve_with_a_limit(void) {
    starve(30 * MILLISECOND);
    require(turns[1] > 10);
}

static void a_policy_that_starves_is_out(void **state) {
    (void)state;
    struct child child = run_child(starve_with_a_limit);
    assert_exit(&child, EXIT_SUCCESS);
    assert_reported(&child, "policy bytes: in bytes.sched thread 3 (second) was ready for longer than 30 ms, and only "
                            "others were dispatched; 3 threads continue");
}

static void without_a_limit_it_may(void) {
    starve(0);
    require(turns[1] == 0);
}

/* Nobody is starved by a FIFO, whatever its threads do. */
static void who_keeps_the_processor_is_no_policy(void) {
    require(catapults_init(&(struct catapults_options){
                .policy = POLICIES "/counts.so", .starvation_limit = 5 * MILLISECOND, .cooperative = true}) == 0);
    catapults_t threads[] = {spawn("first", 0, NULL, NULL), spawn("second", 1, NULL, NULL)};
    for (int i = 0; i < 5; i++) {
        catapults_yield();
        for (int64_t end = catapults_now() + 20 * MILLISECOND; catapults_now() < end;)
            ;
    }
    yield_for(50 * MILLISECOND);
    require(strcmp(catapults_policy_name(), "counts") == 0);
    stop = true;
    for (int i = 0; i < 2; i++)
        require(catapults_join(threads[i], NULL) == 0);
}

/* `high` has more bytes left than `low` to the root: the root is to blame, not the policy of `low`. */
static void in_a_tree(void) {
    begin(POLICIES "/hierarchy.so", 30 * MILLISECOND);
    catapults_t low = spawn("low", 0, NULL, catapults_scheduler_find("low"));
    require(catapults_scheduler_attach(catapults_scheduler_find("high")) == 0);
    yield_until_out(catapults_scheduler_find("top"));
    require(strcmp(catapults_scheduler_policy_name(catapults_scheduler_find("low")), "bytes") == 0);
    require(strcmp(catapults_scheduler_policy_name(catapults_scheduler_find("high")), "bytes") == 0);
    require(turns[0] > 0);
    stop = true;
    require(catapults_join(low, NULL) == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_policy_that_starves_is_out),
        child_test(without_a_limit_it_may),
        child_test(who_keeps_the_processor_is_no_policy),
        child_test(in_a_tree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
