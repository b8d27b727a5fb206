/* A game that makes sound and frames while it loads a level. A clock counts the work in place of milliseconds, so every
 * run of the program has the same numbers. */
#include <stdio.h>
#include <stdlib.h>

#include "catapults.h"

enum { FRAMES = 60, LOADERS = 6 };

/* A thread that has something to do in each period. */
struct timed {
    catapults_int due; /* what the policy reads; 0: no matter when */
    catapults_sem_t begins;
    int period, steps, rounds, late;
};

static struct timed timed[] = {{.period = 5, .steps = 1, .rounds = FRAMES * 16 / 5}, /* sound */
                               {.period = 16, .steps = 4, .rounds = FRAMES}};        /* frames */
static int now, loaded;

/* A millisecond of work. What begins meanwhile becomes ready. */
static void work(void) {
    now++;
    for (int i = 0; i < 2; i++)
        if (now % timed[i].period == 0)
            catapults_sem_post(&timed[i].begins);
}

static void *make(void *argument) {
    struct timed *my = argument;
    for (int round = 1; round <= my->rounds; round++) {
        my->due = (round + 1) * my->period;
        catapults_sem_wait(&my->begins);
        for (int step = 0; step < my->steps; step++) {
            work();
            catapults_yield();
        }
        my->late += now > my->due;
    }
    return NULL;
}

static void *load(void *nothing) {
    while (now < (FRAMES + 1) * 16) {
        for (int step = 0; step < 3; step++, loaded++)
            work();
        catapults_yield();
    }
    return nothing;
}

int main(void) {
    if (catapults_init(NULL) != 0)
        return EXIT_FAILURE;
    catapults_threadvar_register("due", struct timed, due);
    catapults_t threads[2 + LOADERS];
    for (int i = 0; i < 2 + LOADERS; i++) {
        struct timed *object = i < 2 ? &timed[i] : NULL;
        struct catapults_attributes attributes = {.name = i < 2 ? "timed" : "loads", .object = object};
        if (catapults_create(&threads[i], &attributes, i < 2 ? make : load, object) != 0)
            return EXIT_FAILURE;
    }
    for (int i = 0; i < 2 + LOADERS; i++)
        catapults_join(threads[i], NULL);
    printf("late: %d of %d sounds, %d of %d frames; %d ms of loading in %d ms\n", timed[0].late, timed[0].rounds,
           timed[1].late, timed[1].rounds, loaded, now);
    return EXIT_SUCCESS;
}
