/*
 * The heap of timers, against a search through all of them.
 */
#include "core/timer.h"
#include "support/child.h"

enum { TIMERS = 200, STEPS = 200000 };

static const struct timer *earliest(const struct timer *timers) {
    const struct timer *first = NULL;
    for (int i = 0; i < TIMERS; i++)
        if (timer_is_set(&timers[i]) && (!first || timers[i].instant < first->instant))
            first = &timers[i];
    return first;
}

static void the_earliest_is_at_the_root(void **state) {
    (void)state;
    static struct timer timers[TIMERS];
    struct timer *root = NULL;
    unsigned seed = 1;
    int passed = 0;
    for (int step = 0; step < STEPS; step++) {
        struct timer *timer = &timers[rand_r(&seed) % TIMERS];
        if (rand_r(&seed) % 8 == 0 && root)
            timer = root; /* as happens to it most */
        if (timer_is_set(timer)) {
            timer_cancel(&root, timer);
            assert_false(timer_is_set(timer));
        } else {
            timer_set(&root, timer, rand_r(&seed) % 500);
            assert_true(timer_is_set(timer));
        }
        const struct timer *first = earliest(timers);
        if (!first) {
            assert_null(root);
            continue;
        }
        assert_non_null(root);
        assert_int_equal(root->instant, first->instant);
        passed++;
    }
    assert_true(passed > STEPS / 2);
}

static void timers_run_out_in_order(void **state) {
    (void)state;
    static struct timer timers[TIMERS];
    struct timer *root = NULL;
    unsigned seed = 2;
    for (int i = 0; i < TIMERS; i++)
        timer_set(&root, &timers[i], rand_r(&seed));
    int64_t last = 0;
    int count = 0;
    for (; root; count++) {
        assert_true(root->instant >= last);
        last = root->instant;
        timer_cancel(&root, root);
    }
    assert_int_equal(count, TIMERS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_earliest_is_at_the_root),
        cmocka_unit_test(timers_run_out_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
