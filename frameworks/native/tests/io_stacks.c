/*
 * Threads in every state, each with a stack of functions of its own: debuggers.sh looks at them while the first thread
 * is in `all_are_there`. Run by itself, it ends them all. With an argument it seems to be on an old kernel, where guard
 * pages are mappings of their own: gdb cannot write a core file of others.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "catapults.h"
#include "support/refuse.h"

#define UNIQUE __attribute__((noinline, noclone))

static catapults_mutex_t mutex = CATAPULTS_MUTEX_INITIALIZER;
static catapults_cond_t cond = CATAPULTS_COND_INITIALIZER;
static catapults_sem_t semaphore;
static int results;

static void require(int condition, const char *what) {
    if (!condition) {
        fprintf(stderr, "io_stacks: not so: %s\n", what);
        exit(1);
    }
}

/* `results` keeps the compiler from turning these calls into jumps. */
static UNIQUE void hold_the_mutex(void) {
    catapults_mutex_lock(&mutex);
    while (catapults_cond_wait(&cond, &mutex) == 0)
        results++;
}

static UNIQUE void sleep_long(void) {
    catapults_sleep_until(CATAPULTS_FOREVER);
    results++;
}

static UNIQUE void dream(int depth) {
    if (depth > 0)
        dream(depth - 1);
    else
        sleep_long();
    results++;
}

static UNIQUE void wait_for_the_semaphore(void) {
    catapults_sem_wait(&semaphore);
    results++;
}

static void *conditional(void *argument) {
    hold_the_mutex();
    return argument;
}

static void *dreamer(void *argument) {
    dream(3);
    return argument;
}

static void *semaphoric(void *argument) {
    wait_for_the_semaphore();
    return argument;
}

static void *reader(void *argument) {
    char byte;
    catapults_read(*(int *)argument, &byte, 1);
    return argument;
}

static void *joiner(void *argument) {
    catapults_join(argument, NULL);
    return argument;
}

static UNIQUE void take_a_turn(void) {
    catapults_yield();
    results++;
}

static void *yielder(void *argument) {
    for (;;) {
        take_a_turn();
        catapults_testcancel();
    }
    return argument;
}

static void *newcomer(void *argument) { return argument; }

static UNIQUE void all_are_there(void) { results++; }

static catapults_t spawn(const char *name, void *(*start)(void *), void *argument) {
    catapults_t thread;
    require(catapults_create(&thread, &(struct catapults_attributes){.name = name}, start, argument) == 0, name);
    return thread;
}

int main(int argc, char **argv) {
    (void)argv;
    if (argc > 1)
        refuse(SYS_madvise, EINVAL);
    int ends[2];
    require(catapults_init(NULL) == 0 && pipe2(ends, O_CLOEXEC) == 0, "the runtime starts");
    catapults_t threads[8];
    threads[0] = spawn("conditional", conditional, NULL);
    threads[1] = spawn("dreamer", dreamer, NULL);
    threads[2] = spawn("semaphoric", semaphoric, NULL);
    threads[3] = spawn("reader", reader, &ends[0]);
    threads[4] = spawn("yielder", yielder, NULL);
    threads[5] = spawn("suspended", yielder, NULL);
    threads[6] = spawn("joiner", joiner, threads[1]);
    catapults_yield();
    require(catapults_suspend(threads[5]) == 0, "a thread is suspended");
    threads[7] = spawn("newcomer", newcomer, NULL);
    all_are_there();
    catapults_resume(threads[5]);
    for (int i = 0; i < 8; i++)
        catapults_cancel(threads[i == 1 ? 6 : i == 6 ? 1 : i]); /* who joins before who is joined */
    for (int i = 0; i < 8; i++)
        require(catapults_join(threads[i], NULL) == 0, "all can be joined");
    return 0;
}
