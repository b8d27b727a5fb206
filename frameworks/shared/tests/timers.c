/*
 * Timers against a model, in random orders: armed, armed anew, disarmed, expired; few instants, so that many are equal.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "catapults/timers.h"

enum { THREADS = 40, TIMERS = 2, ALL = THREADS * TIMERS, STEPS = 20000 };

static struct catapults_thread threads[THREADS];
static struct catapults_timer timers[ALL];
static catapults_time model[ALL];

/* The one that expires next: the lowest instant, then the lowest thread, then the first timer. */
static int next(void) {
    int found = -1;
    for (int i = 0; i < ALL; i++)
        if (model[i] != 0 && (found < 0 || model[i] < model[found]))
            found = i;
    return found;
}

static void check(const struct catapults_timers *heap) {
    int expected = next();
    if (expected < 0)
        assert_null(heap->first);
    else
        assert_ptr_equal(heap->first, &timers[expected]);
}

static void run(unsigned seed, int instants) {
    srand(seed);
    struct catapults_timers heap;
    catapults_timers_init(&heap);
    for (int i = 0; i < ALL; i++) {
        threads[i / TIMERS].number = (uint32_t)(i / TIMERS + 1);
        timers[i] = (struct catapults_timer){.node = {&timers[0].node, &timers[1].node, &timers[2].node}};
        catapults_timer_init(&timers[i], &threads[i / TIMERS], (uint32_t)(i % TIMERS));
        model[i] = 0;
    }
    for (int step = 0; step < STEPS; step++) {
        int one = rand() % ALL, what = rand() % 10;
        if (what < 6) {
            model[one] = rand() % instants - instants / 4;
            catapults_timers_set(&heap, &timers[one], model[one]);
        } else if (what < 8) {
            model[one] = 0;
            catapults_timers_set(&heap, &timers[one], 0);
        } else if (heap.first) {
            model[next()] = 0;
            catapults_timers_disarm(&heap, heap.first);
        }
        assert_int_equal(timers[one].instant, model[one]);
        check(&heap);
    }
    while (heap.first) {
        check(&heap);
        model[next()] = 0;
        catapults_timers_disarm(&heap, heap.first);
    }
    check(&heap);
}

static void test_random(void **state) {
    (void)state;
    for (unsigned seed = 1; seed <= 5; seed++) {
        run(seed, 8);
        run(seed, 1000000);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
