/*
 * Several schedulers at once, as an application sees them: hierarchies that are loaded (policies/hierarchy.c),
 * schedulers that come and go, threads that go from one to another.
 */
#include <errno.h>

#include "catapults.h"
#include "support/child.h"

static char order[64];

static void *note(void *name) {
    strcat(order, name);
    return NULL;
}

static catapults_t spawn(catapults_scheduler_t scheduler, void *(*start)(void *), void *argument) {
    catapults_t thread;
    require(catapults_create(&thread, &(struct catapults_attributes){.scheduler = scheduler}, start, argument) == 0);
    return thread;
}

static void begin(const char *policy) { require(catapults_init(&(struct catapults_options){.policy = policy}) == 0); }

static catapults_scheduler_t find(const char *name) {
    catapults_scheduler_t scheduler = catapults_scheduler_find(name);
    require(scheduler != NULL && strcmp(catapults_scheduler_name(scheduler), name) == 0);
    return scheduler;
}

/* ---- Hierarchies ------------------------------------------------------------------------------------------------- */

static void a_hierarchy_is_loaded(void) {
    begin(POLICIES "/hierarchy.so");
    require(catapults_scheduler_self() == find("low"));
    require(catapults_scheduler_root() == find("top"));
    require(catapults_scheduler_parent(find("high")) == find("top"));
    require(catapults_scheduler_parent(find("top")) == NULL);
    require(catapults_scheduler_find("none") == NULL);
    require(strcmp(catapults_scheduler_policy_name(find("high")), "bytes") == 0);
    /* By its parameters `high` goes first, whoever was there before. */
    catapults_t threads[4] = {spawn(NULL, note, "1"), spawn(NULL, note, "2"), spawn(find("high"), note, "3"),
                              spawn(find("high"), note, "4")};
    for (int i = 0; i < 4; i++)
        require(catapults_join(threads[i], NULL) == 0);
    require(strcmp(order, "3412") == 0);
}

static void values_of_a_scheduler_can_change(void) {
    begin(POLICIES "/hierarchy.so");
    struct catapults_value few = catapults_value_int("bytesleft", 0), many = catapults_value_int("bytesleft", 100),
                           wrong = catapults_value_time("bytesleft", 1);
    require(catapults_scheduler_set_values(find("top"), &few, 1) == EINVAL);
    require(catapults_scheduler_set_values(find("high"), &wrong, 1) == EINVAL);
    require(catapults_scheduler_set_values(find("high"), &few, 1) == 0);
    require(catapults_policy_replace(find("top"), POLICIES "/bytes.so") == 0);
    catapults_t threads[4] = {spawn(NULL, note, "1"), spawn(NULL, note, "2"), spawn(find("high"), note, "3"),
                              spawn(find("high"), note, "4")};
    for (int i = 0; i < 4; i++)
        require(catapults_join(threads[i], NULL) == 0);
    require(strcmp(order, "1234") == 0);
    require(catapults_scheduler_set_values(find("high"), &many, 1) == 0);
    threads[0] = spawn(NULL, note, "1");
    threads[1] = spawn(find("high"), note, "2");
    for (int i = 0; i < 2; i++)
        require(catapults_join(threads[i], NULL) == 0);
    require(strcmp(order, "123421") == 0);
}

static void variables_are_those_of_all(void) {
    static catapults_int decisions, connections = 3;
    begin(POLICIES "/hierarchy.so");
    require(catapults_schedvar_register("decisions", &decisions) == 0);
    catapults_yield(); /* the root's, and that of `low` */
    require(decisions == 2);
    require(catapults_schedvar_register("connections", &connections) == 0);
    connections = -1;
    require(catapults_create(NULL, &(struct catapults_attributes){.scheduler = find("high")}, note, "") == EAGAIN);
    require(strcmp(catapults_refusal(), "too many connections") == 0);
    connections = 0;
    catapults_scheduler_t late;
    struct catapults_scheduler_attributes attributes = {.name = "late", .policy = POLICIES "/bytes.so"};
    require(catapults_scheduler_add(&late, &attributes) == 0);
    connections = -1;
    require(catapults_create(NULL, &(struct catapults_attributes){.scheduler = late}, note, "") == EAGAIN);
}

static void break_guard(void) {
    static catapults_int connections;
    begin(POLICIES "/hierarchy.so");
    catapults_t other = spawn(find("high"), note, "h");
    struct catapults_scheduler_attributes attributes = {.name = "frail", .policy = POLICIES "/bytes.so"};
    catapults_scheduler_t frail;
    require(catapults_scheduler_add(&frail, &attributes) == 0);
    catapults_t first = spawn(frail, note, "1"), second = spawn(frail, note, "2");
    (void)connections;
    require(catapults_join(other, NULL) == 0);
    require(catapults_join(first, NULL) == 0 && catapults_join(second, NULL) == 0);
    require(catapults_schedvar_register("connections", &connections) == 0);
    catapults_t third = spawn(frail, note, "3");
    connections = 13;
    catapults_yield();
    connections = 0;
    require(catapults_join(third, NULL) == 0);
}

static void a_failure_is_told_with_its_scheduler(void **state) {
    (void)state;
    struct child child = run_child(break_guard);
    assert_exit(&child, EXIT_SUCCESS);
    assert_reported(&child, "policy bytes of the scheduler top: guard failed at bytes.sched:51");
}

static const char *file;

static void load(void) { require(catapults_init(&(struct catapults_options){.policy = file}) == EINVAL); }

static void a_hierarchy_that_cannot_be_used(void **state) {
    (void)state;
    file = POLICIES "/damaged_hierarchy.so";
    struct child child = run_child(load);
    assert_exit(&child, EXIT_SUCCESS);
    assert_reported(&child, "damaged");
    file = POLICIES "/other_hierarchy.so";
    child = run_child(load);
    assert_exit(&child, EXIT_SUCCESS);
    assert_reported(&child, "version 99 of the contract");
}

/* ---- Coming and going -------------------------------------------------------------------------------------------- */

static void schedulers_come_and_go(void) {
    struct catapults_scheduler_attributes attributes = {.name = "batch"};
    catapults_scheduler_t batch, below;
    require(catapults_scheduler_add(&batch, &attributes) == EPERM);
    begin(NULL);
    require(strcmp(catapults_scheduler_name(catapults_scheduler_root()), "") == 0);
    require(catapults_scheduler_add(&batch, &attributes) == 0);
    require(catapults_scheduler_add(NULL, &attributes) == EEXIST);
    require(catapults_scheduler_add(NULL, &(struct catapults_scheduler_attributes){.name = ""}) == EINVAL);
    attributes = (struct catapults_scheduler_attributes){.name = "below", .parent = batch};
    require(catapults_scheduler_add(&below, &attributes) == 0);
    catapults_t thread = spawn(below, note, "x");
    require(catapults_scheduler_remove(batch) == EBUSY && catapults_scheduler_remove(below) == EBUSY);
    require(catapults_scheduler_remove(catapults_scheduler_root()) == EINVAL);
    require(catapults_join(thread, NULL) == 0);
    require(strcmp(order, "x") == 0);
    require(catapults_scheduler_remove(below) == 0);
    require(catapults_scheduler_find("below") == NULL);
    require(catapults_scheduler_remove(batch) == 0); /* it ends after `below`, which has its last turn first */
    require(catapults_scheduler_find("batch") == NULL && catapults_scheduler_remove(batch) == EINVAL);
    catapults_yield();
    for (int i = 0; i < 100; i++) {
        attributes = (struct catapults_scheduler_attributes){.name = "again"};
        require(catapults_scheduler_add(&batch, &attributes) == 0);
        thread = spawn(batch, note, "");
        require(catapults_join(thread, NULL) == 0);
        require(catapults_scheduler_remove(batch) == 0);
        catapults_yield();
    }
}

static void add_wrong(void) {
    static const struct catapults_hierarchy_parameter unknown = {.name = "speed"}, mistaken = {.name = "open"},
                                                      at_parent = {.name = "share", .at_parent = true};
    begin(NULL);
    struct catapults_scheduler_attributes attributes = {
        .name = "a", .policy = POLICIES "/bytes.so", .parameters = &unknown, .parameters_count = 1};
    require(catapults_scheduler_add(NULL, &attributes) == EINVAL);
    attributes.parameters = &mistaken;
    require(catapults_scheduler_add(NULL, &attributes) == EINVAL);
    attributes.parameters = &at_parent;
    require(catapults_scheduler_add(NULL, &attributes) == EINVAL);
    attributes = (struct catapults_scheduler_attributes){.name = "a", .policy = POLICIES "/hierarchy.so"};
    require(catapults_scheduler_add(NULL, &attributes) == EINVAL);
    attributes.policy = "/no/such/file";
    require(catapults_scheduler_add(NULL, &attributes) == EINVAL);
    require(catapults_scheduler_find("a") == NULL);
}

static void what_is_wrong_is_told(void **state) {
    (void)state;
    struct child child = run_child(add_wrong);
    assert_exit(&child, EXIT_SUCCESS);
    assert_reported(&child, "the policy bytes has no `speed` in its imports, which is a parameter of the scheduler a");
    assert_reported(&child, "has `open` in its imports as bool, the scheduler a has the parameter as int");
    assert_reported(&child, "has no `share` in its threadimports");
    assert_reported(&child, "it is a hierarchy, and only a policy can be used here");
    assert_reported(&child, "cannot open the policy /no/such/file");
}

/* ---- Threads that change their scheduler ------------------------------------------------------------------------- */

static void *wander(void *argument) {
    catapults_scheduler_t *way = argument;
    for (; *way; way++) {
        require(catapults_scheduler_attach(*way) == 0);
        require(catapults_scheduler_self() == *way);
        catapults_yield();
        catapults_sleep(1000);
    }
    return argument;
}

static void threads_change_their_scheduler(void) {
    static catapults_int connections;
    begin(POLICIES "/hierarchy.so");
    catapults_scheduler_t way[] = {find("high"), find("top"), find("low"), find("low"), find("high"), NULL};
    catapults_t threads[10];
    for (int i = 0; i < 10; i++)
        threads[i] = spawn(NULL, wander, way);
    for (int i = 0; i < 10; i++)
        require(catapults_join(threads[i], NULL) == 0);
    require(catapults_scheduler_attach(find("high")) == 0);
    require(catapults_schedvar_register("connections", &connections) == 0);
    connections = -1;
    require(catapults_scheduler_attach(find("low")) == EAGAIN);
    require(strcmp(catapults_refusal(), "too many connections") == 0);
    require(catapults_scheduler_self() == find("high"));
    catapults_yield();
    /* It was created before a policy with so many attributes was there. */
    catapults_scheduler_t large;
    connections = 0;
    struct catapults_scheduler_attributes attributes = {.name = "large", .policy = POLICIES "/large.so"};
    require(catapults_scheduler_add(&large, &attributes) == 0);
    require(catapults_scheduler_attach(large) == ENOSPC);
    catapults_t thread = spawn(large, note, "y");
    require(catapults_join(thread, NULL) == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        child_test(a_hierarchy_is_loaded),
        child_test(values_of_a_scheduler_can_change),
        child_test(variables_are_those_of_all),
        cmocka_unit_test(a_failure_is_told_with_its_scheduler),
        cmocka_unit_test(a_hierarchy_that_cannot_be_used),
        child_test(schedulers_come_and_go),
        cmocka_unit_test(what_is_wrong_is_told),
        child_test(threads_change_their_scheduler),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
