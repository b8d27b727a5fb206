/*
 * What a switch costs if each thread has its own thread_local variables (catapults_options.own_thread_locals). The
 * program has BYTES of them.
 *
 *   thread-locals-BYTES [own]       without: they are the kernel thread's
 *
 * Prints `yield NANOSECONDS`: a yield between two threads under the built-in FIFO, the median of ROUNDS rounds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catapults.h"

enum { ROUNDS = 31, SWITCHES = 1 << 19 };

static _Thread_local volatile char variables[BYTES];

static bool stop;

static void *yielder(void *argument) {
    while (!stop)
        catapults_yield();
    return argument;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int count, char **arguments) {
    bool own = count == 2 && strcmp(arguments[1], "own") == 0;
    struct catapults_options options = {.own_thread_locals = own};
    catapults_t other;
    variables[0] = 1;
    if (count > 2 || own != (count == 2) || catapults_init(&options) != 0 ||
        catapults_create(&other, NULL, yielder, NULL) != 0)
        return EXIT_FAILURE;
    static double values[ROUNDS];
    for (int round = -1; round < ROUNDS; round++) { /* the first one warms up */
        int64_t start = catapults_now();
        for (int i = 0; i < SWITCHES / 2; i++)
            catapults_yield();
        values[round < 0 ? 0 : round] = (double)(catapults_now() - start) / SWITCHES;
    }
    stop = true;
    catapults_join(other, NULL);
    qsort(values, ROUNDS, sizeof(double), compare);
    printf("yield %.2f\n", values[ROUNDS / 2]);
    return EXIT_SUCCESS;
}
