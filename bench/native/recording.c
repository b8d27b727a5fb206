/*
 * What it costs to record a trace: threads that yield to each other, each making two records, beside the same while
 * nothing is recorded. Both take turns, in one process.
 *
 *   recording           prints `name value` lines, in nanoseconds: what a record costs, in the median round (`record`),
 *                       and in the median of those in which the ring is filled for the first time (`record_first`)
 *
 * What a yield costs more counts: also that its shortest way is not taken while a trace is recorded.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "catapults.h"
#include "dispatcher/trace.h"

enum { ROUNDS = 31, YIELDS = 1 << 17, MANY = 100 };

static bool stop;

static void *yielder(void *argument) {
    while (!stop)
        catapults_yield();
    return argument;
}

static double each_yield(int threads) {
    static catapults_t others[MANY];
    stop = false;
    for (int i = 1; i < threads; i++)
        if (catapults_create(&others[i], NULL, yielder, NULL) != 0)
            exit(EXIT_FAILURE);
    int turns = YIELDS / threads;
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

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, compare);
    return values[count / 2];
}

/* How much a record adds. */
static void measure(struct trace_file *file, int threads, const char *name) {
    double all[ROUNDS], first[ROUNDS];
    int firsts = 0;
    dispatcher_trace_to(NULL);
    each_yield(threads); /* warms up */
    for (int round = 0; round < ROUNDS; round++) {
        double without = each_yield(threads);
        uint64_t before = file->written;
        dispatcher_trace_to(file);
        double with = each_yield(threads);
        dispatcher_trace_to(NULL);
        if (file->written - before < 2 * (uint64_t)(YIELDS - MANY)) {
            fprintf(stderr, "recording: a yield makes fewer than two records\n");
            exit(EXIT_FAILURE);
        }
        all[round] = (with - without) / 2;
        if (file->written <= file->capacity)
            first[firsts++] = all[round];
    }
    if (firsts)
        printf("record_first %.2f\n", median(first, firsts));
    printf("%s %.2f\n", name, median(all, ROUNDS));
}

int main(void) {
    char path[] = "/tmp/catapults-recording-XXXXXX";
    int descriptor = mkstemp(path);
    int error = descriptor < 0 ? -1 : catapults_init(&(struct catapults_options){.trace = path});
    unlink(path);
    if (error)
        return EXIT_FAILURE;
    struct trace_file *file = dispatcher_trace;
    measure(file, 2, "record");
    measure(file, MANY, "record_100_threads");
    return EXIT_SUCCESS;
}
