/* Four periodic threads. Each does one job here, and says so. */
#include <stdio.h>
#include <stdlib.h>

#include "catapults.h"

static const int64_t SECOND = 1000000000;

static const struct task {
    const char *name;
    int64_t period, budget; /* in seconds */
} tasks[] = {{"report", 60, 24}, {"log", 30, 12}, {"control", 10, 2}, {"extra", 20, 2}};

static void *do_job(void *argument) {
    printf("%s: done\n", ((const struct task *)argument)->name);
    return NULL; /* catapults_next_period would wait for the release of the next job */
}

int main(void) {
    enum { TASKS = sizeof tasks / sizeof tasks[0] };
    catapults_t threads[TASKS];
    if (catapults_init(NULL) != 0)
        return EXIT_FAILURE;
    for (int i = 0; i < TASKS; i++) {
        struct catapults_value values[] = {catapults_value_time("deadline", tasks[i].period * SECOND),
                                           catapults_value_time("budget", tasks[i].budget * SECOND)};
        struct catapults_attributes attributes = {
            .name = tasks[i].name, .period = tasks[i].period * SECOND, .values = values, .values_count = 2};
        if (catapults_create(&threads[i], &attributes, do_job, (void *)&tasks[i]) != 0) {
            printf("%s: %s\n", tasks[i].name, catapults_refusal());
            threads[i] = NULL;
        }
    }
    for (int i = 0; i < TASKS; i++)
        if (threads[i] != NULL)
            catapults_join(threads[i], NULL);
    return EXIT_SUCCESS;
}
