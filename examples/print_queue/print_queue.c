/* A printer and four jobs, each a thread of GNU Pth. */
#include <stdio.h>
#include <stdlib.h>

#include "catapults_pth.h"

struct job {
    catapults_int pages; /* that are left: what the policy reads */
    char name;
};

static struct job jobs[] = {{8, 'A'}, {3, 'B'}, {5, 'C'}, {1, 'D'}};
static int printed, sum;

static void *print(void *argument) {
    struct job *job = argument;
    while (job->pages > 0) {
        putchar(job->name);
        job->pages--;
        printed++;
        pth_yield(NULL); /* another job's page may come next */
    }
    sum += printed;
    return NULL;
}

int main(void) {
    enum { JOBS = sizeof jobs / sizeof jobs[0] };
    pth_threadvar_register("pages", offsetof(struct job, pages));
    if (!pth_init())
        return EXIT_FAILURE;
    pth_t threads[JOBS];
    for (int i = 0; i < JOBS; i++)
        if ((threads[i] = pth_spawn_object(PTH_ATTR_DEFAULT, print, &jobs[i], &jobs[i])) == NULL)
            return EXIT_FAILURE;
    for (int i = 0; i < JOBS; i++)
        pth_join(threads[i], NULL);
    printf("\na job was done after %.2f pages\n", (double)sum / JOBS);
    return EXIT_SUCCESS;
}
