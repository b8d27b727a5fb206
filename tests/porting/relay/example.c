/* Threads that take turns, and one that is woken: the order is the policy's. */
#include <stdio.h>

#include "relay.h"

static relay_t sleeper;

static void sleeps(void *name) {
    printf("%s waits\n", (char *)name);
    sleeper = relay_self();
    relay_wait();
    printf("%s is awake\n", (char *)name);
}

static void works(void *name) {
    for (int turn = 1; turn <= 3; turn++) {
        printf("%s %d\n", (char *)name, turn);
        if (turn == 2 && sleeper) {
            relay_t woken = sleeper;
            sleeper = NULL;
            relay_wake(woken);
        }
        relay_yield();
    }
}

int main(void) {
    relay_create(sleeps, "s");
    for (char *name = "abc"; *name; name++) {
        static char names[3][2];
        char *own = names[name[0] - 'a'];
        own[0] = name[0];
        if (!relay_create(works, own))
            printf("%s is refused\n", own);
    }
    int left = relay_run();
    printf("%d left\n", left);
    return left;
}
