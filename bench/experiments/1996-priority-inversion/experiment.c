/*
 * Priority inversion between policies (CPU inheritance scheduling, 1996, §5.5 and Figure 9), under
 * workstation.hierarchy.
 *
 *   1996-priority-inversion donation|none
 *
 * RM1, rate monotonic, wakes every 5 ticks, takes the lock, and gives it back a tick later. RR1, a background job,
 * takes the lock for up to 3 ticks, again and again. LS1, under a lottery between the two, does not use the lock: it
 * runs and sleeps for up to 20 ticks each. Prints `value TICKS` for each time that RM1 takes the lock: how long it
 * waited.
 *
 * A tick is an amount of work, about a millisecond. Waiting is counted in what the others have done meanwhile, so that
 * neither what else runs on the machine counts, nor that it is not always equally fast; nothing is left out, for while
 * RM1 waits, one of the others can run.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catapults.h"

enum { LOCKS = 500, WORK_OF_A_TICK = 1000000 };
static const int64_t TICK = 1000000; /* for sleeping */

static catapults_mutex_t mutex;
static double waited[LOCKS];
enum { RM1, LS1, RR1, THREADS };
static volatile int64_t done[THREADS];
static volatile bool over;

__attribute__((noinline)) static void compute(int thread, double ticks) {
    for (long i = (long)(ticks * WORK_OF_A_TICK); i > 0; i--)
        done[thread]++;
}

/* Uniform, 0 to `most`: the same sequence in each run. */
static double random_up_to(double most, uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return most * (double)(*state >> 11) / (double)(1ULL << 53);
}

static void *rm1(void *argument) {
    int64_t next = catapults_now();
    for (int i = 0; i < LOCKS; i++) {
        while (next <= catapults_now())
            next += 5 * TICK;
        catapults_sleep_until(next);
        int64_t start = done[LS1] + done[RR1];
        catapults_mutex_lock(&mutex);
        waited[i] = (double)(done[LS1] + done[RR1] - start) / WORK_OF_A_TICK;
        compute(RM1, 1);
        catapults_mutex_unlock(&mutex);
    }
    over = true;
    return argument;
}

static void *ls1(void *argument) {
    uint64_t state = 1;
    while (!over) {
        compute(LS1, random_up_to(20, &state));
        catapults_sleep((int64_t)(random_up_to(20, &state) * (double)TICK));
    }
    return argument;
}

static void *rr1(void *argument) {
    uint64_t state = 2;
    while (!over) {
        catapults_mutex_lock(&mutex);
        compute(RR1, random_up_to(3, &state));
        catapults_mutex_unlock(&mutex);
        compute(RR1, random_up_to(3, &state));
    }
    return argument;
}

static catapults_t spawn(const char *name, const char *scheduler, void *(*start)(void *)) {
    struct catapults_value values[] = {catapults_value_time("period", 5 * TICK), catapults_value_time("budget", TICK)};
    struct catapults_attributes attributes = {.name = name,
                                              .scheduler = catapults_scheduler_find(scheduler),
                                              .values = values,
                                              .values_count = start == rm1 ? 2 : 0};
    catapults_t thread;
    if (catapults_create(&thread, &attributes, start, NULL) != 0)
        exit(EXIT_FAILURE);
    return thread;
}

int main(int count, char **arguments) {
    if (count != 2) {
        fprintf(stderr, "usage: %s donation|none\n", arguments[0]);
        return EXIT_FAILURE;
    }
    /* While a thread computes, those that sleep are woken at this interval: four times a tick. */
    if (catapults_init(&(struct catapults_options){.tick = TICK / 4}) != 0)
        return EXIT_FAILURE;
    bool donation = strcmp(arguments[1], "donation") == 0;
    enum catapults_mutex_protocol protocol = donation ? CATAPULTS_PROTOCOL_INHERIT : CATAPULTS_PROTOCOL_NONE;
    catapults_mutex_init(&mutex, &(struct catapults_mutex_attributes){.protocol = protocol});
    catapults_t threads[] = {spawn("RM1", "real_time", rm1), spawn("LS1", "timesharing", ls1),
                             spawn("RR1", "background", rr1)};
    for (int i = 0; i < 3; i++)
        catapults_join(threads[i], NULL);
    for (int i = 0; i < LOCKS; i++)
        printf("value %.4f\n", waited[i]);
    return EXIT_SUCCESS;
}
