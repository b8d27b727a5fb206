/*
 * What a decision costs that goes through 1, 2, 3, 4, 8 levels of schedulers (CPU inheritance scheduling, 1996, Table
 * 1).
 *
 *   levels policy.so            the policy of every scheduler
 *   levels policy.so LEVELS     one figure only, as `value NANOSECONDS`; policy.so `-`: that of $CATAPULTS_POLICY
 *
 * Prints `name value` lines, in nanoseconds: what a yield costs between two threads under a scheduler that has so many
 * schedulers from the root to itself. Each figure is the median of ROUNDS rounds, which take turns.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catapults.h"

enum { ROUNDS = 101, YIELDS = 1 << 13, DEEPEST = 8 };

static const int levels[] = {1, 2, 3, 4, 8};
enum { FIGURES = sizeof levels / sizeof *levels };

static bool stop;

/* Both threads yield here: what is measured is not how well the processor foresees at which of two places one goes on.
 */
static __attribute__((noinline)) void yield_until(const bool *end, int most) {
    for (int i = 0; i < most && !*end; i++)
        catapults_yield();
}

static void *yielder(void *argument) {
    yield_until(&stop, INT_MAX);
    return argument;
}

/* The caller, which yields, too, is under `scheduler`. */
static double measure(catapults_scheduler_t scheduler) {
    catapults_t other;
    stop = false;
    if (catapults_scheduler_attach(scheduler) != 0 ||
        catapults_create(&other, &(struct catapults_attributes){.scheduler = scheduler}, yielder, NULL) != 0)
        exit(EXIT_FAILURE);
    catapults_yield();
    int64_t start = catapults_now();
    yield_until(&stop, YIELDS / 2);
    double each = (double)(catapults_now() - start) / YIELDS;
    stop = true;
    catapults_join(other, NULL);
    return each;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int count, char **arguments) {
    static double values[FIGURES][ROUNDS];
    struct catapults_options options = {.policy = count > 1 ? arguments[1] : NULL};
    int only = count > 2 ? atoi(arguments[2]) : 0;
    if (options.policy && strcmp(options.policy, "-") == 0)
        options.policy = getenv("CATAPULTS_POLICY");
    if (only < 0 || only > DEEPEST)
        return EXIT_FAILURE;
    if (catapults_init(&options) != 0)
        return EXIT_FAILURE;
    catapults_scheduler_t schedulers[DEEPEST] = {catapults_scheduler_root()};
    for (int i = 1; i < DEEPEST; i++) {
        char name[16];
        snprintf(name, sizeof name, "level %d", i + 1);
        struct catapults_scheduler_attributes attributes = {
            .name = name, .parent = schedulers[i - 1], .policy = options.policy};
        if (catapults_scheduler_add(&schedulers[i], &attributes) != 0)
            return EXIT_FAILURE;
    }
    if (only) {
        for (int round = -1; round < ROUNDS; round++)
            values[0][round < 0 ? 0 : round] = measure(schedulers[only - 1]);
        qsort(values[0], ROUNDS, sizeof(double), compare);
        printf("value %.2f\n", values[0][ROUNDS / 2]);
        return EXIT_SUCCESS;
    }
    for (int round = -1; round < ROUNDS; round++) /* the first one warms up */
        for (int i = 0; i < FIGURES; i++)
            values[i][round < 0 ? 0 : round] = measure(schedulers[levels[i] - 1]);
    for (int i = 0; i < FIGURES; i++) {
        qsort(values[i], ROUNDS, sizeof(double), compare);
        printf("levels_%d %.2f\n", levels[i], values[i][ROUNDS / 2]);
    }
    return EXIT_SUCCESS;
}
