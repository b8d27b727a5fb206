/*
 * What is called before catapults_init.
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

static void lock(void) {
    static catapults_mutex_t mutex = CATAPULTS_MUTEX_INITIALIZER;
    catapults_mutex_lock(&mutex);
}

static void yield(void) { catapults_yield(); }
static void sleep_a_while(void) { catapults_sleep(1); }
static void look_at_itself(void) { catapults_name(catapults_self()); }

static void others_say_what_is_missing(void **state) {
    (void)state;
    void (*const early[])(void) = {lock, yield, sleep_a_while, look_at_itself};
    for (size_t i = 0; i < sizeof early / sizeof *early; i++) {
        struct child child = run_child(early[i]);
        assert_true(WIFSIGNALED(child.status) && WTERMSIG(child.status) == SIGABRT);
        assert_reported(&child, "catapults: a function of catapults.h is called that needs catapults_init first\n");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        child_test(keys_can_be_made),
        cmocka_unit_test(others_say_what_is_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
