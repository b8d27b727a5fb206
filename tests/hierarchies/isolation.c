/*
 * Under policies/isolation.hierarchy: two groups of threads that never wait, one of 2 threads and one of 20. Prints how
 * many hundredths of the time each has had, and how many other programs took, whoever of ours had the processor.
 */
#include <stdio.h>
#include <stdlib.h>

#include "catapults.h"

enum { INTERACTIVE = 2, BATCH = 20 };
/* In nanoseconds: between two looks at the clock, our threads take less. */
enum { TAKEN = 1000000 };

static int64_t end;
static int64_t had[2];
static int64_t looked, taken;

static int64_t look(void) {
    int64_t now = catapults_now();
    if (looked != 0 && now - looked > TAKEN)
        taken += now - looked;
    return looked = now;
}

static void *spin(void *argument) {
    int64_t *mine = argument;
    while (look() < end) {
        int64_t begun = look(), until = begun + 200000, now;
        while ((now = look()) < until)
            ;
        *mine += now - begun;
        catapults_yield();
    }
    return NULL;
}

static catapults_t start(const char *scheduler, int64_t *whose) {
    catapults_t thread;
    struct catapults_attributes attributes = {.scheduler = catapults_scheduler_find(scheduler)};
    if (!attributes.scheduler || catapults_create(&thread, &attributes, spin, whose) != 0)
        exit(2);
    return thread;
}

int main(void) {
    catapults_t threads[INTERACTIVE + BATCH];
    if (catapults_init(NULL) != 0)
        return 2;
    end = catapults_now() + 1500000000;
    for (int i = 0; i < INTERACTIVE + BATCH; i++)
        threads[i] = i < INTERACTIVE ? start("interactive", &had[0]) : start("batch", &had[1]);
    for (int i = 0; i < INTERACTIVE + BATCH; i++)
        catapults_join(threads[i], NULL);
    int64_t both = had[0] + had[1];
    printf("interactive %d batch %d taken %d\n", (int)(had[0] * 100 / both), (int)(had[1] * 100 / both),
           (int)(taken * 100 / both));
    return 0;
}
