/*
 * What is called before catapults_init, and options that it refuses.
 */
#include <errno.h>

#include "catapults.h"
#include "support/child.h"

static catapults_key_t key;

static void keys_can_be_made(void) {
    require(catapults_key_create(&key, NULL) == 0);
    require(catapults_init(NULL) == 0);
    require(catapults_setspecific(key, &key) == 0 && catapults_getspecific(key) == &key);
}

static void fail_and_yield(void) {
    if (catapults_init(&(struct catapults_options){.tick = -1}) != 0)
        catapults_yield();
}

static void another_init_changes_nothing(void) {
    require(catapults_init(&(struct catapults_options){.processors = 2}) == 0);
    for (int i = 0; i < 100; i++) {
        require(catapults_init(NULL) == EALREADY);
        catapults_sleep(10000);
    }
}

static void lock(void) {
    static catapults_mutex_t mutex = CATAPULTS_MUTEX_INITIALIZER;
    catapults_mutex_lock(&mutex);
}

static void yield(void) { catapults_yield(); }
static void sleep_a_while(void) { catapults_sleep(1); }
static void look_at_itself(void) { catapults_name(catapults_self()); }

static void others_say_what_is_missing(void **state) {
    (void)state;
    void (*const early[])(void) = {lock, yield, sleep_a_while, look_at_itself, fail_and_yield};
    for (size_t i = 0; i < sizeof early / sizeof *early; i++) {
        struct child child = run_child(early[i]);
        assert_true(WIFSIGNALED(child.status) && WTERMSIG(child.status) == SIGABRT);
        assert_reported(&child, "catapults: a function of catapults.h is called that needs catapults_init first\n");
    }
}

static void init_with(const struct catapults_options *options) { _exit(catapults_init(options)); }

static void no_tick(void) { init_with(&(struct catapults_options){.tick = -1}); }
static void no_limit(void) { init_with(&(struct catapults_options){.handler_limit = -1}); }
static void no_patience(void) { init_with(&(struct catapults_options){.starvation_limit = INT64_MIN}); }
static void no_accounting(void) { init_with(&(struct catapults_options){.accounting = 77}); }
static void no_such_stacks(void) { init_with(&(struct catapults_options){.stack_size = (size_t)1 << 62}); }

static void options_that_cannot_be_meant_are_refused(void **state) {
    (void)state;
    const struct {
        void (*init)(void);
        const char *report;
    } wrong[] = {{no_tick, "the option `tick` is -1: it must be a number of nanoseconds, or 0\n"},
                 {no_limit, "the option `handler_limit` is -1: it must be a number of nanoseconds, or 0\n"},
                 {no_patience, "the option `starvation_limit` is -9223372036854775808: it must be"},
                 {no_accounting, "the option `accounting` is 77: there is no such one\n"},
                 {no_such_stacks, "the option `stack_size` is 4611686018427387904: there are no stacks so large\n"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct child child = run_child(wrong[i].init);
        assert_exit(&child, EINVAL);
        assert_reported(&child, wrong[i].report);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_that_cannot_be_meant_are_refused),
        child_test(keys_can_be_made),
        child_test(another_init_changes_nothing),
        cmocka_unit_test(others_say_what_is_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
