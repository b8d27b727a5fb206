/* Two threads answer requests while four compute. A request comes with every 7th step of the computations. */
#include <stdio.h>
#include <stdlib.h>

#include "catapults.h"

enum { ANSWERING = 2, COMPUTING = 4, STEPS = 1400, IN_A_TURN = 25, EVERY = 7 };

static catapults_sem_t requests;
static int step, asked[STEPS / EVERY], came, answered, most;
static long waited;

static void *answer(void *nothing) {
    for (int i = 0; i < STEPS / EVERY / ANSWERING; i++) {
        catapults_sem_wait(&requests);
        int steps = step - asked[answered++];
        waited += steps;
        if (steps > most)
            most = steps;
    }
    return nothing;
}

static void *compute(void *nothing) {
    while (step < STEPS) {
        step++;
        if (step % EVERY == 0) {
            asked[came++] = step;
            catapults_sem_post(&requests);
        }
        if (step % IN_A_TURN == 0)
            catapults_yield();
    }
    return nothing;
}

int main(void) {
    if (catapults_init(NULL) != 0)
        return EXIT_FAILURE;
    catapults_t threads[ANSWERING + COMPUTING];
    for (int i = 0; i < ANSWERING + COMPUTING; i++)
        if (catapults_create(&threads[i], NULL, i < ANSWERING ? answer : compute, NULL) != 0)
            return EXIT_FAILURE;
    for (int i = 0; i < ANSWERING + COMPUTING; i++)
        catapults_join(threads[i], NULL);
    printf("%d answers in %d steps: a request waited for %.1f steps, and for %d at most\n", answered, step,
           (double)waited / answered, most);
    return EXIT_SUCCESS;
}
