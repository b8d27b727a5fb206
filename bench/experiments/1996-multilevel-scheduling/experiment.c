/*
 * A hierarchy of schedulers at work (CPU inheritance scheduling, 1996, §5.3 and Figure 7), under workstation.hierarchy.
 *
 *   1996-multilevel-scheduling TICKS
 *
 * Something happens every so many ticks: a thread with a reservation of half of the processor begins (RM1), a job of
 * the background (RR1), a second one (RR2), a thread of the timesharing class (LS1), a second thread with a
 * reservation, of a quarter (RM2); at last LS1 has finished. Prints `value TICKS RM1 RM2 LS1 RR1 RR2`: how much work
 * each has done by then, in ticks.
 */
#include "work.h"

enum { RM1, RM2, LS1, RR1, RR2, PLOTTED, IDLE = PLOTTED, DIRECTOR, ALL };

static struct worker all[ALL] = {{.name = "RM1"}, {.name = "RM2"},  {.name = "LS1"},     {.name = "RR1"},
                                 {.name = "RR2"}, {.name = "idle"}, {.name = "director"}};

enum { PERIOD = 10 }; /* ticks */

static void *periodic(void *argument) {
    struct worker *self = argument;
    int64_t work = ticks(PERIOD) / (self == &all[RM1] ? 2 : 4);
    for (int64_t next = chunks; !over;) {
        compute(self, work);
        next += ticks(PERIOD);
        if (next > chunks)
            wait_until(self, next);
    }
    return NULL;
}

static void *computing(void *argument) {
    compute(argument, INT64_MAX);
    return NULL;
}

static void start_periodic(int which, catapults_time budget) {
    struct catapults_value values[] = {catapults_value_time("period", PERIOD * 1000000),
                                       catapults_value_time("budget", budget)};
    start(&all[which], "real_time", periodic, values, 2);
}

int main(int count, char **arguments) {
    struct worker *director = &all[DIRECTOR];
    int64_t phase = begin(count, arguments, all, ALL, director, &all[IDLE]);
    start_periodic(RM1, PERIOD * 500000);
    wait_until(director, phase);
    start(&all[RR1], "background", computing, NULL, 0);
    wait_until(director, 2 * phase);
    start(&all[RR2], "background", computing, NULL, 0);
    wait_until(director, 3 * phase);
    start(&all[LS1], "timesharing", computing, NULL, 0);
    wait_until(director, 4 * phase);
    start_periodic(RM2, PERIOD * 250000);
    wait_until(director, 5 * phase);
    all[LS1].stop = true;
    wait_until(director, 6 * phase + 1);
    over = true;
    print_rows(PLOTTED);
    return EXIT_SUCCESS;
}
