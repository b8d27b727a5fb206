/*
 * Policies in shared objects: what loads, and what is said about what does not. See policies/ for the objects.
 */
#include <errno.h>
#include <fcntl.h>

#include "catapults.h"
#include "support/child.h"

static const char *file;
static int expected_error;

static void load(void) { require(catapults_init(&(struct catapults_options){.policy = file}) == expected_error); }

static void check_refusal(const char *path, const char *why, const char *what_to_do) {
    file = path;
    expected_error = EINVAL;
    struct child child = run_child(load);
    assert_exit(&child, EXIT_SUCCESS);
    assert_reported(&child, "catapults: ");
    assert_reported(&child, path);
    assert_reported(&child, why);
    assert_reported(&child, what_to_do);
}

static void what_is_no_policy_is_refused(void **state) {
    (void)state;
    static const char source[1000] = "scheduler fifo {}";
    char text[] = "/tmp/catapults-loading-XXXXXX";
    int descriptor = mkstemp(text);
    assert_true(descriptor >= 0 && write(descriptor, source, sizeof source) == sizeof source);
    check_refusal(text, "invalid ELF header", "build it with `catapults build`");
    unlink(text);
    check_refusal(text, "No such file", "build it with `catapults build`");
    check_refusal("/", "no file", "`catapults build`");
    check_refusal(POLICIES "/no_policy.so", "no symbol `catapults_policy`", "rebuild it with `catapults build");
    check_refusal(POLICIES "/other_magic.so", "does not describe a policy", "rebuild it with `catapults build");
}

/* As by a copy that was interrupted. */
static void what_is_cut_off_is_refused(void **state) {
    (void)state;
    static char object[1 << 20]; /* more than half of it are tables for debuggers */
    char text[] = "/tmp/catapults-loading-XXXXXX";
    int whole = open(POLICIES "/bytes.so", O_RDONLY), descriptor = mkstemp(text);
    ssize_t size = read(whole, object, sizeof object);
    assert_true(descriptor >= 0 && size > 12000 && write(descriptor, object, (size_t)size) == size);
    for (off_t length = 8192; length > 64; length /= 2) {
        assert_int_equal(ftruncate(descriptor, length), 0);
        check_refusal(text, "its end is missing", "build it again with `catapults build`");
    }
    unlink(text);
    close(descriptor);
    close(whole);
}

static void what_was_built_for_others_is_refused(void **state) {
    (void)state;
    check_refusal(POLICIES "/other_contract.so", "version 99 of the contract", "rebuild it");
    check_refusal(POLICIES "/other_abi.so", "version 77 of the framework `native`", "rebuild it");
    check_refusal(POLICIES "/other_framework.so", "for the framework `pth`", "rebuild it");
    check_refusal(POLICIES "/no_thread_size.so", "damaged", "rebuild it");
    check_refusal(POLICIES "/several_instances.so", "damaged", "rebuild it");
}

static void a_failed_start_can_be_tried_again(void) {
    require(catapults_create(NULL, NULL, NULL, NULL) == EPERM);
    require(catapults_init(&(struct catapults_options){.policy = POLICIES "/other_abi.so"}) == EINVAL);
    require(catapults_init(&(struct catapults_options){.trace = "/no/such/folder/trace"}) == ENOENT);
    require(catapults_init(NULL) == 0);
    require(catapults_init(NULL) == EALREADY);
}

static void the_policy_comes_from(const char *option, const char *variable, const char *name) {
    if (variable)
        setenv("CATAPULTS_POLICY", variable, 1);
    require(catapults_init(&(struct catapults_options){.policy = option}) == 0);
    require(strcmp(catapults_policy_name(), name) == 0);
}

static void nowhere(void) { the_policy_comes_from(NULL, NULL, "fifo (built-in)"); }
static void an_empty_variable(void) { the_policy_comes_from(NULL, "", "fifo (built-in)"); }
static void the_environment(void) { the_policy_comes_from(NULL, POLICIES "/bytes.so", "bytes"); }
static void the_option_first(void) { the_policy_comes_from(POLICIES "/bytes.so", "/no/such/file", "bytes"); }

static void a_switch_is_said_as_it_is(void) {
    setenv("CATAPULTS_STRICT_IMPORTS", "yes", 1);
    setenv("CATAPULTS_ACTIVATIONS", "0", 1);
    require(catapults_init(NULL) == 0);
}

static void another_word_for_it_is_reported(void **state) {
    (void)state;
    struct child child = run_child(a_switch_is_said_as_it_is);
    assert_exit(&child, EXIT_SUCCESS);
    assert_string_equal(child.report, "catapults: CATAPULTS_STRICT_IMPORTS is \"yes\": it must be 0 or 1\n");
}

static void *yield(void *argument) {
    char block[20000];
    memset(block, 1, sizeof block);
    catapults_yield();
    return block[19999] ? argument : NULL;
}

/* 50 kB of attributes, in threads whose stacks are of 64 kB. */
static void large_attributes(void) {
    require(catapults_init(&(struct catapults_options){.policy = POLICIES "/large.so"}) == 0);
    catapults_t threads[50];
    void *result;
    for (int i = 0; i < 50; i++)
        require(catapults_create(&threads[i], NULL, yield, &threads[i]) == 0);
    for (int i = 0; i < 50; i++)
        require(catapults_join(threads[i], &result) == 0 && result == &threads[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_no_policy_is_refused),
        cmocka_unit_test(what_is_cut_off_is_refused),
        cmocka_unit_test(what_was_built_for_others_is_refused),
        child_test(a_failed_start_can_be_tried_again),
        child_test(nowhere),
        child_test(an_empty_variable),
        child_test(the_environment),
        child_test(the_option_first),
        cmocka_unit_test(another_word_for_it_is_reported),
        child_test(large_attributes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
