/*
 * What a switch costs: bare, between two threads, among a hundred; and creating and joining one.
 *
 *   yield [policy.so]       without: the policy compiled in, else the built-in FIFO
 *
 * Prints `name value` lines, in nanoseconds; each figure is the median of ROUNDS rounds. The rounds of all figures take
 * turns, so that a machine that changes its pace changes it for all of them.
 */
#include <stdio.h>
#include <stdlib.h>

#include "catapults.h"
#include "contexts/context.h"

enum { ROUNDS = 31, SWITCHES = 1 << 20, CREATIONS = 1 << 15, MANY = 100 };

/* ---- The bare switch --------------------------------------------------------------------------------------------- */

static struct context here, there;

static void bounce(void *argument) {
    (void)argument;
    tools_begin();
    for (;;)
        context_switch(&there, &here);
}

static double bare_switch(void) {
    if (!there.stack_pointer) {
        struct stack *stack = stack_take(64 << 10);
        if (!stack)
            exit(EXIT_FAILURE);
        context_adopt(&here);
        context_make(&there, stack, stack, bounce, NULL);
    }
    int64_t start = catapults_now();
    for (int i = 0; i < SWITCHES / 2; i++)
        context_switch(&here, &there);
    return (double)(catapults_now() - start) / SWITCHES;
}

/* ---- Switches between threads ------------------------------------------------------------------------------------ */

static bool stop;

static void *yielder(void *argument) {
    while (!stop)
        catapults_yield();
    return argument;
}

/* Each of `threads` threads yields in turn; the caller is one of them. */
static double yield_among(int threads) {
    static catapults_t others[MANY];
    stop = false;
    for (int i = 1; i < threads; i++)
        if (catapults_create(&others[i], NULL, yielder, NULL) != 0)
            exit(EXIT_FAILURE);
    int turns = SWITCHES / threads;
    catapults_yield();
    int64_t start = catapults_now();
    for (int i = 0; i < turns; i++)
        catapults_yield();
    double each = (double)(catapults_now() - start) / ((double)turns * threads);
    stop = true;
    for (int i = 1; i < threads; i++)
        catapults_join(others[i], NULL);
    return each;
}

static double yield_2_threads(void) { return yield_among(2); }

static double yield_100_threads(void) { return yield_among(MANY); }

/* ---- Lives ------------------------------------------------------------------------------------------------------- */

static void *nothing(void *argument) { return argument; }

static double create_join(void) {
    int64_t start = catapults_now();
    for (int i = 0; i < CREATIONS; i++) {
        catapults_t thread;
        if (catapults_create(&thread, NULL, nothing, NULL) != 0 || catapults_join(thread, NULL) != 0)
            exit(EXIT_FAILURE);
    }
    return (double)(catapults_now() - start) / CREATIONS;
}

/* ---- The measurement --------------------------------------------------------------------------------------------- */

static const struct figure {
    const char *name;
    double (*measure)(void);
} figures[] = {
    {"bare_switch", bare_switch},
    {"yield_2_threads", yield_2_threads},
    {"yield_100_threads", yield_100_threads},
    {"create_join", create_join},
};
enum { FIGURES = sizeof figures / sizeof *figures };

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int count, char **arguments) {
    static double values[FIGURES][ROUNDS];
    struct catapults_options options = {.policy = count > 1 ? arguments[1] : NULL};
    if (catapults_init(&options) != 0)
        return EXIT_FAILURE;
    for (int round = -1; round < ROUNDS; round++) /* the first one warms up */
        for (int i = 0; i < FIGURES; i++)
            values[i][round < 0 ? 0 : round] = figures[i].measure();
    for (int i = 0; i < FIGURES; i++) {
        qsort(values[i], ROUNDS, sizeof(double), compare);
        printf("%s %.2f\n", figures[i].name, values[i][ROUNDS / 2]);
    }
    return EXIT_SUCCESS;
}
