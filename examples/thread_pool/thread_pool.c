/* A pool of four workers and a queue of twelve jobs, of which every fourth is urgent. */
#include <stdio.h>
#include <stdlib.h>

#include "catapults.h"

enum { WORKERS = 4, JOBS = 12, STEPS = 3 };

/* What the policy reads of a worker. */
struct worker {
    catapults_int urgency;
};

struct job {
    struct catapults_message message; /* by which it waits in the queue */
    int number;
    bool urgent;
};

static catapults_port_t queue = CATAPULTS_PORT_INITIALIZER;
static int done, urgent_turns;

static void *work(void *argument) {
    struct worker *worker = argument;
    struct catapults_message *message;
    while (catapults_port_receive(&queue, &message) == 0) {
        struct job *job = message->data;
        worker->urgency = job->urgent;
        for (int step = 0; step < STEPS; step++)
            catapults_yield(); /* where a real job would wait for a disk or a network */
        done++;
        printf(" %d%s", job->number, job->urgent ? "!" : "");
        if (job->urgent)
            urgent_turns += done;
        worker->urgency = 0;
    }
    return NULL;
}

int main(void) {
    if (catapults_init(NULL) != 0)
        return EXIT_FAILURE;
    catapults_threadvar_register("urgency", struct worker, urgency);

    static struct job jobs[JOBS];
    for (int i = 0; i < JOBS; i++) {
        jobs[i] = (struct job){.number = i + 1, .urgent = i % 4 == 3};
        jobs[i].message.data = &jobs[i];
        catapults_port_send(&queue, &jobs[i].message);
    }
    catapults_port_close(&queue); /* workers end when it is empty */

    static struct worker workers[WORKERS];
    catapults_t threads[WORKERS];
    printf("done:");
    for (int i = 0; i < WORKERS; i++) {
        struct catapults_attributes attributes = {.name = "worker", .object = &workers[i]};
        if (catapults_create(&threads[i], &attributes, work, &workers[i]) != 0)
            return EXIT_FAILURE;
    }
    for (int i = 0; i < WORKERS; i++)
        catapults_join(threads[i], NULL);
    printf("\nan urgent job was number %.1f to be done\n", urgent_turns / 3.0);
    return EXIT_SUCCESS;
}
