/* Requests of three tenants. One of them floods the server just before the others come. */
#include <stdio.h>
#include <stdlib.h>

#include "catapults.h"

enum { REQUESTS = 36, TURNS = 2, LOOKED_AT = 28 };

static const char *const names[] = {"gold", "silver", "bronze"};
static char turns[REQUESTS * TURNS + 1]; /* whose turn it was: g, s, b */
static int taken;

static void *serve(void *argument) {
    for (int i = 0; i < TURNS; i++) {
        turns[taken++] = names[(intptr_t)argument][0];
        catapults_yield();
    }
    return NULL;
}

static void request(catapults_t *thread, int tenant) {
    struct catapults_value value = catapults_value_int("tenant", tenant);
    struct catapults_attributes attributes = {.name = names[tenant], .values = &value, .values_count = 1};
    if (catapults_create(thread, &attributes, serve, (void *)(intptr_t)tenant) != 0)
        exit(EXIT_FAILURE);
}

int main(void) {
    if (catapults_init(NULL) != 0)
        return EXIT_FAILURE;
    catapults_t threads[REQUESTS];
    for (int i = 0; i < REQUESTS; i++)
        request(&threads[i], i < 20 ? 1 : i < 30 ? 0 : 2); /* 20 of silver, 10 of gold, 6 of bronze */
    for (int i = 0; i < REQUESTS; i++)
        catapults_join(threads[i], NULL);

    int of[3] = {0};
    for (int i = 0; i < LOOKED_AT; i++)
        for (int tenant = 0; tenant < 3; tenant++)
            of[tenant] += turns[i] == names[tenant][0];
    printf("%s\nof the first %d turns: gold %d, silver %d, bronze %d\n", turns, LOOKED_AT, of[0], of[1], of[2]);
    return EXIT_SUCCESS;
}
