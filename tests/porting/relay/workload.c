/* Whatever relay can, in a random order: workload SEED. What the policy decides is in RELAY_TRACE. */
#include <stdlib.h>

#include "relay.h"

enum { MOST = 16, STEPS = 400 };
static relay_t waiting[MOST];
static int waiters, steps;

static void anything(void *argument) {
    (void)argument;
    while (steps++ < STEPS) {
        switch (rand() % 8) {
        case 0:
        case 1:
            relay_create(anything, NULL);
            break;
        case 2:
        case 3:
            if (waiters > 0)
                relay_wake(waiting[--waiters]);
            break;
        case 4:
            if (waiters < MOST) {
                waiting[waiters++] = relay_self();
                relay_wait();
            }
            break;
        case 5:
            return;
        default:
            relay_yield();
        }
    }
    while (waiters > 0)
        relay_wake(waiting[--waiters]);
}

int main(int count, char **arguments) {
    srand(count > 1 ? (unsigned)atoi(arguments[1]) : 1);
    for (int thread = 0; thread < 4; thread++)
        relay_create(anything, NULL);
    relay_run();
    return 0;
}
