/*
 * Handlers of signals, and calls that wait for descriptors.
 */
#include <poll.h>

#include "support/signals.h"

static int pipe_ends[2];

static void *read_pipe(void *argument) {
    (void)argument;
    char byte;
    ssize_t got = catapults_read(pipe_ends[0], &byte, 1);
    return finished(got == 1 ? 0 : errno);
}
static void *poll_pipe(void *argument) {
    (void)argument;
    struct pollfd one = {.fd = pipe_ends[0], .events = POLLIN};
    return finished(catapults_poll(&one, 1, CATAPULTS_FOREVER) == 1 ? 0 : errno);
}

static void write_byte(void) { require(catapults_write(pipe_ends[1], "", 1) == 1); }
static void calls_return(const char *io) {
    require(catapults_init(&(struct catapults_options){.io = io}) == 0);
    require(pipe(pipe_ends) == 0);
    interrupts(read_pipe, write_byte);
    interrupts(poll_pipe, NULL);
}

static void calls_return_with_io_uring(void) { calls_return("io_uring"); }
static void calls_return_with_epoll(void) { calls_return("epoll"); }

/* One that is to leave what has gone to its caller says how much. */
static void *write_much(void *argument) {
    (void)argument;
    static char much[1 << 20];
    ssize_t written = catapults_write(pipe_ends[1], much, sizeof much);
    require(written > 0 && written < (ssize_t)sizeof much);
    return NULL;
}

static void what_has_gone_is_told(void) {
    begin();
    require(pipe(pipe_ends) == 0);
    handle_with(SIGUSR1, count, 0);
    catapults_t thread = spawn(write_much, NULL);
    catapults_sleep(5 * MS);
    require(catapults_kill(thread, SIGUSR1) == 0);
    join(thread);
    require(handled == 1);
}

/* A storm of signals for threads that exchange bytes: none of these is lost or comes twice. */
static void *pass_on(void *argument) {
    (void)argument;
    for (int i = 0; i < 2000; i++) {
        int number = i;
        require(catapults_write(pipe_ends[1], &number, sizeof number) == sizeof number);
        if (i % 16 == 0)
            catapults_yield();
    }
    over = 1;
    return NULL;
}

static void *take(void *argument) {
    (void)argument;
    for (int i = 0; i < 2000; i++) {
        int number;
        require(catapults_read(pipe_ends[0], &number, sizeof number) == sizeof number && number == i);
    }
    return NULL;
}

static void restarted_calls_lose_nothing(void) {
    begin();
    require(pipe(pipe_ends) == 0);
    handle_with(SIGUSR1, count, SA_RESTART);
    handle_with(SIGALRM, count, SA_RESTART);
    catapults_t taker = spawn(take, NULL), passer = spawn(pass_on, NULL);
    every(200);
    while (!over) {
        require(catapults_kill(taker, SIGUSR1) == 0 && catapults_kill(passer, SIGUSR1) == 0);
        catapults_yield();
    }
    every(0);
    join(taker);
    join(passer);
    require(handled > 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        child_test(calls_return_with_io_uring),
        child_test(calls_return_with_epoll),
        child_test(what_has_gone_is_told),
        child_test(restarted_calls_lose_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
