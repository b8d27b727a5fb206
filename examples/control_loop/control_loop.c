/* A controller with four periodic threads, of which the policy admits those whose deadlines it can keep. */
#include <stdio.h>
#include <stdlib.h>

#include "catapults.h"

static const int64_t MS = 1000000;

struct task {
    const char *name;
    int64_t period, budget; /* in milliseconds */
    int jobs, done;
    catapults_t thread;
};

static struct task tasks[] = {{"control", 10, 2, .jobs = 20},
                              {"sensors", 20, 5, .jobs = 10},
                              {"record", 50, 10, .jobs = 4},
                              {"vision", 40, 20, .jobs = 5}};

static catapults_sem_t all_asked = CATAPULTS_SEM_INITIALIZER(0);

static void *run(void *argument) {
    struct task *task = argument;
    catapults_sem_wait(&all_asked);   /* a task that ended before would leave room for the next one */
    while (++task->done < task->jobs) /* a job's work stands here */
        catapults_next_period(NULL);  /* how many releases were missed could be asked for here */
    return NULL;
}

int main(void) {
    if (catapults_init(NULL) != 0)
        return EXIT_FAILURE;
    enum { TASKS = sizeof tasks / sizeof tasks[0] };
    for (int i = 0; i < TASKS; i++) {
        struct task *task = &tasks[i];
        struct catapults_value budget = catapults_value_time("budget", task->budget * MS);
        struct catapults_attributes attributes = {
            .name = task->name, .period = task->period * MS, .values = &budget, .values_count = 1};
        if (catapults_create(&task->thread, &attributes, run, task) != 0) {
            const char *reason = catapults_refusal();
            printf("%s: refused: %s\n", task->name, reason != NULL ? reason : "no memory");
            task->jobs = 0;
        }
    }
    for (int i = 0; i < TASKS; i++)
        catapults_sem_post(&all_asked);
    for (int i = 0; i < TASKS; i++) {
        if (tasks[i].jobs > 0) {
            catapults_join(tasks[i].thread, NULL);
            printf("%s: %d jobs done\n", tasks[i].name, tasks[i].done);
        }
    }
    return EXIT_SUCCESS;
}
