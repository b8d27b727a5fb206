/* A pipeline of three stages, in which the most urgent stage waits for a lock that the least urgent one has. It runs
 * twice: without donation, and with it. */
#include <stdio.h>
#include <stdlib.h>

#include "catapults.h"

enum { STAGES = 3, BLOCKS = 3 };

static catapults_mutex_t block; /* protects the block that goes through the pipeline */
static catapults_sem_t packing, sending;
static char turns[100]; /* whose turn it was: r, p, s */
static int taken, longest;

static void work(char stage, int steps) {
    for (int i = 0; i < steps; i++) {
        turns[taken++] = stage;
        catapults_yield();
    }
}

static void *read_blocks(void *nothing) {
    for (int i = 0; i < BLOCKS; i++) {
        catapults_mutex_lock(&block);
        work('r', 1);
        catapults_sem_post(&sending);
        catapults_sem_post(&packing);
        work('r', 2);
        catapults_mutex_unlock(&block);
    }
    return nothing;
}

static void *pack(void *nothing) {
    for (int i = 0; i < BLOCKS; i++) {
        catapults_sem_wait(&packing);
        work('p', 6);
    }
    return nothing;
}

static void *send_blocks(void *nothing) {
    for (int i = 0; i < BLOCKS; i++) {
        catapults_sem_wait(&sending);
        int before = taken;
        catapults_mutex_lock(&block);
        if (taken - before > longest)
            longest = taken - before;
        work('s', 1);
        catapults_mutex_unlock(&block);
    }
    return nothing;
}

static void run(const char *name, enum catapults_mutex_protocol protocol) {
    static void *(*const stages[STAGES])(void *) = {read_blocks, pack, send_blocks}; /* priorities 1, 2, 3 */
    struct catapults_mutex_attributes attributes = {.protocol = protocol};
    catapults_mutex_init(&block, &attributes);
    taken = longest = 0;
    catapults_t threads[STAGES];
    for (int i = STAGES - 1; i >= 0; i--) { /* a new thread runs at once: those come first that wait for others */
        struct catapults_value priority = catapults_value_int("priority", i + 1);
        struct catapults_attributes of_thread = {.values = &priority, .values_count = 1};
        if (catapults_create(&threads[i], &of_thread, stages[i], NULL) != 0)
            exit(EXIT_FAILURE);
    }
    for (int i = 0; i < STAGES; i++)
        catapults_join(threads[i], NULL);
    printf("%-17s %.*s  `send` waited for %d turns at most\n", name, taken, turns, longest);
}

int main(void) {
    if (catapults_init(NULL) != 0)
        return EXIT_FAILURE;
    run("without donation:", CATAPULTS_PROTOCOL_NONE);
    run("with donation:", CATAPULTS_PROTOCOL_INHERIT); /* the default of mutexes */
    return EXIT_SUCCESS;
}
