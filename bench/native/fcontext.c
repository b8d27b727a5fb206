/*
 * What Boost's switch costs: jump_fcontext, back and forth. Prints `fcontext NANOSECONDS`, the median of ROUNDS rounds.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Of Boost.Context, which has no C header for them: <boost/context/detail/fcontext.hpp>. */
struct transfer {
    void *context, *data;
};
void *make_fcontext(void *top, size_t size, void (*start)(struct transfer));
struct transfer jump_fcontext(void *context, void *data);

enum { ROUNDS = 31, SWITCHES = 1 << 20, STACK = 64 << 10 };

static void bounce(struct transfer from) {
    for (;;)
        from = jump_fcontext(from.context, NULL);
}

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(void) {
    static _Alignas(64) char stack[STACK];
    static double values[ROUNDS];
    struct transfer there = {make_fcontext(stack + STACK, STACK, bounce), NULL};
    for (int round = -1; round < ROUNDS; round++) { /* the first one warms up */
        int64_t start = now();
        for (int i = 0; i < SWITCHES / 2; i++)
            there = jump_fcontext(there.context, NULL);
        values[round < 0 ? 0 : round] = (double)(now() - start) / SWITCHES;
    }
    qsort(values, ROUNDS, sizeof(double), compare);
    printf("fcontext %.2f\n", values[ROUNDS / 2]);
    return EXIT_SUCCESS;
}
