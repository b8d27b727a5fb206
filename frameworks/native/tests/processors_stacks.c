/*
 * Threads that stand on kernel threads of their own: one blocked in the kernel, one that computes, one that was
 * interrupted, beside one that waits here, with activations and two processors. debuggers.sh looks at them while the
 * first thread is in `all_are_there`. Run by itself, it ends them all. With an argument it seems to be on an old
 * kernel, where guard pages are mappings of their own: gdb cannot write a core file of others.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "catapults.h"
#include "support/refuse.h"

#define UNIQUE __attribute__((noinline, noclone))

static catapults_mutex_t mutex = CATAPULTS_MUTEX_INITIALIZER;
static int ends[2];
static _Atomic bool reads, over;
static _Atomic int computing, results;

static void require(int condition, const char *what) {
    if (!condition) {
        fprintf(stderr, "processors_stacks: not so: %s\n", what);
        exit(1);
    }
}

static UNIQUE void read_the_pipe(void) {
    char byte;
    reads = true;
    require(read(ends[0], &byte, 1) == 1, "the pipe has a byte");
    results++;
}

static void *blocked(void *argument) {
    read_the_pipe();
    return argument;
}

static UNIQUE void compute(void) {
    computing++;
    while (!over)
        for (volatile int i = 0; i < 1000; i++)
            ;
    results++;
}

static void *computer(void *argument) {
    compute();
    return argument;
}

static UNIQUE void take_the_mutex(void) {
    catapults_mutex_lock(&mutex);
    catapults_mutex_unlock(&mutex);
    results++;
}

static void *locker(void *argument) {
    take_the_mutex();
    return argument;
}

static UNIQUE void all_are_there(void) { results++; }

static catapults_t spawn(const char *name, void *(*start)(void *)) {
    catapults_t thread;
    require(catapults_create(&thread, &(struct catapults_attributes){.name = name}, start, NULL) == 0, name);
    return thread;
}

int main(int argc, char **argv) {
    (void)argv;
    if (argc > 1)
        refuse(SYS_madvise, EINVAL);
    struct catapults_options options = {.policy = POLICIES "/turns.so", .processors = 2, .activations = true};
    require(catapults_init(&options) == 0 && pipe2(ends, O_CLOEXEC) == 0, "the runtime starts");
    catapults_mutex_lock(&mutex);
    catapults_t threads[4] = {spawn("blocked", blocked), spawn("locker", locker)};
    while (!reads)
        catapults_yield();
    for (int i = 2; i < 4; i++)
        threads[i] = spawn("computer", computer);
    while (computing < 2) /* more than there are processors: one of them has been interrupted by then, or is soon */
        catapults_yield();
    catapults_sleep(50000000);
    all_are_there();
    over = true;
    catapults_mutex_unlock(&mutex);
    require(write(ends[1], "x", 1) == 1, "the pipe takes a byte");
    for (int i = 0; i < 4; i++)
        require(catapults_join(threads[i], NULL) == 0, "all can be joined");
    require(results == 5, "all have been there");
    return 0;
}
