/*
 * Variables that the policy imports (2005, §5.2), as policies/bytes.c reads and writes them.
 */
#include <errno.h>

#include "catapults.h"
#include "support/child.h"

struct request {
    char other;
    bool urgent;
    catapults_int bytesleft;
};

static char order[64];

static void *note(void *name) {
    strcat(order, name);
    return NULL;
}

static void begin(bool strict) {
    require(catapults_init(&(struct catapults_options){.policy = POLICIES "/bytes.so", .strict_imports = strict}) == 0);
}

static catapults_t spawn(char *name, void *object) {
    catapults_t thread;
    require(catapults_create(&thread, &(struct catapults_attributes){.object = object, .detached = true}, note, name) ==
            0);
    return thread;
}

static void check_order(const char *expected) {
    for (int i = 0; i < 20; i++)
        catapults_yield();
    if (strcmp(order, expected) != 0) {
        fprintf(stderr, "order: %s, expected: %s\n", order, expected);
        _exit(CHILD_REQUIRE_FAILED);
    }
    order[0] = '\0';
}

static void global_variables(void) {
    static catapults_int connections, decisions = 100;
    static bool open;
    begin(false);
    require(catapults_schedvar_register("connections", &connections) == 0);
    require(catapults_schedvar_register("decisions", &decisions) == 0);
    require(catapults_schedvar_register_bool("open", &open) == 0);
    catapults_yield();
    require(decisions == 101); /* what the policy writes, the application sees */
    connections = -1;          /* and the other way round */
    require(catapults_create(NULL, NULL, note, "a") == EAGAIN);
    require(strcmp(catapults_refusal(), "too many connections") == 0);
    connections = 0;
    spawn("a", NULL);
    require(catapults_refusal() == NULL);
    check_order("a");
}

static void members_of_objects(void) {
    struct request few = {.bytesleft = 10}, many = {.bytesleft = 90}, urgent = {.bytesleft = 1, .urgent = true};
    begin(false);
    spawn("m", &many); /* before the registration */
    require(catapults_threadvar_register("bytesleft", struct request, bytesleft) == 0);
    require(catapults_threadvar_register_bool("urgent", struct request, urgent) == 0);
    spawn("f", &few);
    spawn("u", &urgent);
    spawn("d", NULL); /* the default, 7, holds */
    check_order("umfd");
    spawn("f", &few);
    spawn("m", &many);
    few.bytesleft = 100; /* the policy reads it when it decides */
    check_order("fm");
}

static void an_object_can_come_later(void) {
    struct request none = {.bytesleft = 0}, few = {.bytesleft = 1}, many = {.bytesleft = 90};
    begin(false);
    require(catapults_threadvar_register("bytesleft", struct request, bytesleft) == 0);
    spawn("d", NULL);
    catapults_set_object(spawn("m", NULL), &many);
    catapults_set_object(spawn("f", &many), &none);
    catapults_set_object(catapults_self(), &few);
    check_order("md");
    catapults_set_object(catapults_self(), NULL);
}

static void unknown_names(void) {
    static catapults_int variable;
    begin(false);
    require(catapults_schedvar_register("nothing", &variable) == ENOENT);
    require(catapults_schedvar_register("bytesleft", &variable) == ENOENT); /* that is one of each thread */
    require(catapults_threadvar_register("nothing", struct request, bytesleft) == ENOENT);
    require(catapults_threadvar_register("connections", struct request, bytesleft) == ENOENT);
}

static void without_a_policy(void) {
    static catapults_int variable;
    require(catapults_init(NULL) == 0);
    require(catapults_schedvar_register("connections", &variable) == ENOENT);
    require(catapults_threadvar_register("bytesleft", struct request, bytesleft) == ENOENT);
}

static void after_the_policy_had_to_go(void) {
    static catapults_int connections = 13, decisions;
    struct request request = {.bytesleft = 1};
    begin(true);
    require(catapults_schedvar_register("connections", &connections) == 0);
    catapults_yield();
    require(strcmp(catapults_policy_name(), "fifo (built-in)") == 0);
    require(catapults_schedvar_register("decisions", &decisions) == 0);
    require(catapults_threadvar_register("bytesleft", struct request, bytesleft) == 0);
    spawn("a", &request);
    catapults_yield();
    require(decisions == 0);
}

/* ---- What ends the program or is reported ------------------------------------------------------------------------ */

static void strict(void) {
    static catapults_int variable;
    begin(true);
    require(catapults_schedvar_register("connections", &variable) == 0);
    catapults_schedvar_register("nothing", &variable);
}

static void strict_member(void) {
    setenv("CATAPULTS_STRICT_IMPORTS", "1", 1);
    begin(false);
    catapults_threadvar_register("nothing", struct request, bytesleft);
}

static void strict_without_a_policy(void) {
    static catapults_int variable;
    setenv("CATAPULTS_STRICT_IMPORTS", "1", 1);
    require(catapults_init(NULL) == 0);
    catapults_schedvar_register("connections", &variable);
}

static void strict_names_end_the_program(void **state) {
    (void)state;
    struct child child = run_child(strict);
    assert_exit(&child, EXIT_FAILURE);
    assert_reported(&child, "the policy bytes has no import `nothing`");
    assert_reported(&child, "declare it in policies/bytes.sched");
    child = run_child(strict_member);
    assert_exit(&child, EXIT_FAILURE);
    child = run_child(strict_without_a_policy);
    assert_exit(&child, EXIT_FAILURE);
}

static void other_types(void) {
    static bool variable;
    begin(false);
    require(catapults_schedvar_register_bool("connections", &variable) == EINVAL);
    require(catapults_threadvar_register("urgent", struct request, bytesleft) == EINVAL);
}

static void other_types_are_refused(void **state) {
    (void)state;
    struct child child = run_child(other_types);
    assert_exit(&child, EXIT_SUCCESS);
    assert_reported(&child, "imports `connections` as int, the application registers it as bool");
    assert_reported(&child, "imports `urgent` as bool, the application registers it as int");
}

static void containment_is_reported(void **state) {
    (void)state;
    struct child child = run_child(after_the_policy_had_to_go);
    assert_exit(&child, EXIT_SUCCESS);
    assert_string_equal(child.report, "catapults: policy bytes: guard failed at bytes.sched:51: `ready` is empty in "
                                      "`ready => current`; 1 thread continues under the built-in FIFO\n");
}

/* ---- Values without a variable ----------------------------------------------------------------------------------- */

static void create_with(char *name, void *object, const struct catapults_value *values, size_t count) {
    struct catapults_attributes attributes = {
        .object = object, .detached = true, .values = values, .values_count = count};
    require(catapults_create(NULL, &attributes, note, name) == 0);
}

/* The first thread runs when no other does. */
static void begin_last(void) {
    begin(false);
    struct catapults_value none = catapults_value_int("bytesleft", -1);
    require(catapults_set_values(catapults_self(), &none, 1) == 0);
}

static void values_hold_from_the_first_event_on(void) {
    begin_last();
    static struct request object = {.bytesleft = 5};
    struct catapults_value few = catapults_value_int("bytesleft", 3), many = catapults_value_int("bytesleft", 90);
    struct catapults_value both[] = {catapults_value_int("bytesleft", 1), catapults_value_bool("urgent", true)};
    create_with("a", NULL, &few, 1);
    create_with("b", NULL, &many, 1);
    create_with("c", NULL, NULL, 0); /* the default, 7 */
    create_with("d", NULL, both, 2);
    create_with("e", &object, &many, 1); /* nothing of its object is linked */
    check_order("dbeca");
    require(catapults_threadvar_register("bytesleft", struct request, bytesleft) == 0);
    create_with("a", NULL, &few, 1);
    create_with("e", &object, &many, 1); /* the variable comes first */
    create_with("c", NULL, NULL, 0);
    check_order("cea");
}

static void values_can_change(void) {
    begin_last();
    catapults_t threads[3];
    static char *const names[] = {"a", "b", "c"};
    for (int i = 0; i < 3; i++)
        require(catapults_create(&threads[i], NULL, note, names[i]) == 0);
    struct catapults_value more = catapults_value_int("bytesleft", 8), most = catapults_value_int("bytesleft", 9);
    require(catapults_set_values(threads[1], &more, 1) == 0 && catapults_set_values(threads[2], &most, 1) == 0);
    check_order("cba");
    require(catapults_set_values(threads[1], &more, 1) == ESRCH);
    for (int i = 0; i < 3; i++)
        require(catapults_join(threads[i], NULL) == 0);
}

static void wrong_values(void) {
    begin_last();
    struct catapults_value wrong = catapults_value_time("bytesleft", 1), unknown = catapults_value_float("nothing", 1);
    catapults_t thread;
    struct catapults_attributes attributes = {.values = &wrong, .values_count = 1};
    require(catapults_create(&thread, &attributes, note, "x") == EINVAL && catapults_threads_ready() == 0);
    require(catapults_set_values(catapults_self(), &wrong, 1) == EINVAL);
    require(catapults_set_values(catapults_self(), &unknown, 1) == 0);
    create_with("a", NULL, &unknown, 1);
    check_order("a");
}

static void unknown_value(void) {
    begin(true);
    struct catapults_value unknown = catapults_value_float("nothing", 1);
    create_with("a", NULL, &unknown, 1);
}

static void wrong_values_are_refused(void **state) {
    (void)state;
    struct child child = run_child(wrong_values);
    assert_exit(&child, EXIT_SUCCESS);
    assert_reported(&child, "imports `bytesleft` as int, the application registers it as time");
    child = run_child(unknown_value);
    assert_exit(&child, EXIT_FAILURE);
    assert_reported(&child, "the policy bytes has no per-thread import `nothing`");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        child_test(global_variables),
        child_test(members_of_objects),
        child_test(an_object_can_come_later),
        child_test(unknown_names),
        child_test(without_a_policy),
        child_test(values_hold_from_the_first_event_on),
        child_test(values_can_change),
        cmocka_unit_test(wrong_values_are_refused),
        cmocka_unit_test(strict_names_end_the_program),
        cmocka_unit_test(other_types_are_refused),
        cmocka_unit_test(containment_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
