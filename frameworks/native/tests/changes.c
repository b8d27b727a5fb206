/*
 * That a variable of a thread was changed by a call is told to the policy, which can file the thread anew.
 */
#include <errno.h>

#include "catapults.h"
#include "support/child.h"

struct object {
    catapults_int urgency;
};

static catapults_int changes, greatest;
static bool gives_way;
static char order[16];

static void begin(const char *policy) { require(catapults_init(&(struct catapults_options){.policy = policy}) == 0); }

static void begin_counting(void) {
    begin(POLICIES "/jobs.so");
    require(catapults_schedvar_register("changes", &changes) == 0);
    require(catapults_schedvar_register("greatest", &greatest) == 0);
    require(catapults_schedvar_register_bool("gives_way", &gives_way) == 0);
}

static void set(catapults_t thread, const char *name, catapults_int value) {
    struct catapults_value values = catapults_value_int(name, value);
    require(catapults_set_values(thread, &values, 1) == 0);
}

static void *note(void *name) {
    strcat(order, name);
    return NULL;
}

static catapults_t spawn(const char *name, catapults_int priority) {
    catapults_t thread;
    struct catapults_value value = catapults_value_int("priority", priority);
    struct catapults_attributes attributes = {.values = &value, .values_count = 1};
    require(catapults_create(&thread, &attributes, note, (void *)name) == 0);
    return thread;
}

/* ---- When it is raised ------------------------------------------------------------------------------------------- */

static void only_another_value_is_a_change(void) {
    begin_counting();
    set(catapults_self(), "urgency", 3);
    require(changes == 1 && greatest == 3);
    set(catapults_self(), "urgency", 3);
    require(changes == 1);
    struct catapults_value both[] = {catapults_value_int("urgency", 4), catapults_value_time("period", 7)};
    require(catapults_set_values(catapults_self(), both, 2) == 0);
    require(changes == 2 && greatest == 4);
}

static void what_the_application_says(void) {
    begin_counting();
    struct object object = {.urgency = 5}, other = {.urgency = 6};
    catapults_set_object(catapults_self(), &object);
    catapults_int before = changes;
    require(catapults_threadvar_register("urgency", struct object, urgency) == 0);
    require(changes == before + 1 && greatest == 5);
    catapults_set_object(catapults_self(), &other);
    require(changes == before + 2 && greatest == 6);
    other.urgency = 8; /* of which the runtime sees nothing */
    require(changes == before + 2);
    require(catapults_changed(catapults_self()) == 0);
    require(changes == before + 3 && greatest == 8);
}

static void *wait_long(void *argument) {
    catapults_sleep_until(CATAPULTS_FOREVER);
    return argument;
}

static void wherever_the_thread_is(void) {
    begin_counting();
    catapults_t ready, blocked, ended;
    require(catapults_create(&blocked, NULL, wait_long, NULL) == 0);
    require(catapults_create(&ended, NULL, note, "") == 0);
    for (int i = 0; i < 3; i++)
        catapults_yield();
    require(catapults_create(&ready, NULL, note, "") == 0);
    set(blocked, "urgency", 1);
    set(ready, "urgency", 2);
    set(catapults_self(), "urgency", 3);
    require(changes == 3);
    require(catapults_changed(ended) == ESRCH && changes == 3);
    require(catapults_suspend(ready) == 0);
    set(ready, "urgency", 4);
    require(changes == 4 && catapults_resume(ready) == 0);
    gives_way = true;
    require(catapults_changed(catapults_self()) == 0); /* others run before this one goes on */
    require(changes == 5 && catapults_join(ready, NULL) == 0 && catapults_join(ended, NULL) == 0);
    require(catapults_cancel(blocked) == 0 && catapults_join(blocked, NULL) == 0);
}

/* ---- What comes of it -------------------------------------------------------------------------------------------- */

static void who_is_more_urgent_now_runs_at_once(void) {
    begin(POLICIES "/of_the_library/fixed_priority.so");
    set(catapults_self(), "priority", 5);
    catapults_t a = spawn("a", 1), b = spawn("b", 2);
    set(a, "priority", 4);
    require(strcmp(order, "") == 0);
    set(a, "priority", 9);
    require(strcmp(order, "a") == 0);
    set(catapults_self(), "priority", 0);
    require(strcmp(order, "ab") == 0);
    require(catapults_join(a, NULL) == 0 && catapults_join(b, NULL) == 0);
}

static void who_changes_keeps_the_processor_if_it_comes_first(void) {
    begin(POLICIES "/of_the_library/fixed_priority.so");
    set(catapults_self(), "priority", 5);
    catapults_t a = spawn("a", 3);
    set(catapults_self(), "priority", 3); /* before others of this priority */
    require(strcmp(order, "") == 0);
    set(a, "priority", 3);
    require(strcmp(order, "") == 0);
    require(catapults_join(a, NULL) == 0);
}

static void of_schedulers_their_parent_hears(void) {
    begin(POLICIES "/of_the_library/virtual_fixed_priority.so");
    set(catapults_self(), "priority", 5);
    struct catapults_hierarchy_parameter parameter = {
        .name = "priority", .type = CATAPULTS_IMPORT_INT, .at_parent = true, .value.integer = 1};
    struct catapults_scheduler_attributes attributes = {.name = "below",
                                                        .policy = POLICIES "/of_the_library/fixed_priority.so",
                                                        .parameters = &parameter,
                                                        .parameters_count = 1};
    catapults_scheduler_t scheduler;
    require(catapults_scheduler_add(&scheduler, &attributes) == 0);
    catapults_t thread;
    struct catapults_attributes there = {.scheduler = scheduler};
    require(catapults_create(&thread, &there, note, "a") == 0);
    require(strcmp(order, "") == 0);
    struct catapults_value urgent = catapults_value_int("priority", 9);
    require(catapults_scheduler_set_values(scheduler, &urgent, 1) == 0);
    require(strcmp(order, "a") == 0);
    require(catapults_join(thread, NULL) == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        child_test(only_another_value_is_a_change),
        child_test(what_the_application_says),
        child_test(wherever_the_thread_is),
        child_test(who_is_more_urgent_now_runs_at_once),
        child_test(who_changes_keeps_the_processor_if_it_comes_first),
        child_test(of_schedulers_their_parent_hears),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
