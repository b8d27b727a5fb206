/*
 * Modular control of the processor (CPU inheritance scheduling, 1996, §5.4 and Figure 8), under
 * modular_control.hierarchy: a browser with two applets under a lottery, an application whose two threads yield to each
 * other, and two jobs of the background. All compute as much as they can.
 *
 *   1996-modular-control TICKS
 *
 * Something happens every so many ticks: the browser gives its applets equal tickets instead of 1 : 4; FIFO1 computes
 * four times as long before it yields; browser and cooperative application have equal tickets instead of 4 : 1; RR1 is
 * raised above RR2. Prints `value TICKS JAVA1 JAVA2 FIFO1 FIFO2 RR1 RR2`: how much work each has done by then, in
 * ticks.
 */
#include "work.h"

enum { JAVA1, JAVA2, FIFO1, FIFO2, RR1, RR2, PLOTTED, IDLE = PLOTTED, DIRECTOR, ALL };

static struct worker all[ALL] = {{.name = "JAVA1"}, {.name = "JAVA2"}, {.name = "FIFO1"}, {.name = "FIFO2"},
                                 {.name = "RR1"},   {.name = "RR2"},   {.name = "idle"},  {.name = "director"}};

/* Ticks that each of the cooperating threads computes before it yields: less than the lottery's quantum, for a thread
 * that is preempted there goes on after the other. */
static const double TURN = 0.1;
static atomic_int longer = 1; /* FIFO1's turn is so many times that */

static void *computing(void *argument) {
    compute(argument, INT64_MAX);
    return NULL;
}

static void *cooperating(void *argument) {
    struct worker *self = argument;
    while (!over) {
        compute(self, ticks(TURN) * (self == &all[FIFO1] ? longer : 1));
        catapults_yield();
    }
    return NULL;
}

static void set_tickets(int which, int tickets) {
    struct catapults_value value = catapults_value_int("tickets", tickets);
    catapults_set_values(all[which].thread, &value, 1);
}

static void set_tickets_of(const char *scheduler, int tickets) {
    struct catapults_value value = catapults_value_int("tickets", tickets);
    catapults_scheduler_set_values(catapults_scheduler_find(scheduler), &value, 1);
}

int main(int count, char **arguments) {
    struct worker *director = &all[DIRECTOR];
    int64_t phase = begin(count, arguments, all, ALL, director, &all[IDLE]);
    start(&all[JAVA1], "browser", computing, NULL, 0);
    start(&all[JAVA2], "browser", computing, (struct catapults_value[]){catapults_value_int("tickets", 4)}, 1);
    start(&all[FIFO1], "cooperative", cooperating, NULL, 0);
    start(&all[FIFO2], "cooperative", cooperating, NULL, 0);
    start(&all[RR1], "background", computing, NULL, 0);
    start(&all[RR2], "background", computing, NULL, 0);
    wait_until(director, phase);
    set_tickets(JAVA2, 1);
    wait_until(director, 2 * phase);
    longer = 4;
    wait_until(director, 3 * phase);
    set_tickets_of("browser", 5);
    set_tickets_of("cooperative", 5);
    wait_until(director, 4 * phase);
    catapults_set_values(all[RR1].thread, (struct catapults_value[]){catapults_value_int("priority", 1)}, 1);
    wait_until(director, 5 * phase + 1);
    over = true;
    print_rows(PLOTTED);
    return EXIT_SUCCESS;
}
