/*
 * What system calls cost that do not block, before and after a program starts scheduler activations (2002, §7).
 *
 *   2002-system-calls before|after CALL
 *
 * CALL is getpid, getrusage, gettimeofday, sbrk or sigaction. Prints `value NANOSECONDS`: the least of many rounds,
 * which what else runs on the machine disturbs least.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "catapults.h"

enum { ROUNDS = 300, CALLS = 2000 };

/* As system calls, where libc knows the answer by itself or by shared memory. */
static void call_getpid(void) { syscall(SYS_getpid); }
static void call_getrusage(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
}
static void call_gettimeofday(void) {
    struct timeval time;
    syscall(SYS_gettimeofday, &time, NULL);
}
static void call_sbrk(void) { syscall(SYS_brk, NULL); }
static void call_sigaction(void) {
    struct sigaction action;
    sigaction(SIGUSR1, NULL, &action);
}

static const struct {
    const char *name;
    void (*call)(void);
} calls[] = {{"getpid", call_getpid},
             {"getrusage", call_getrusage},
             {"gettimeofday", call_gettimeofday},
             {"sbrk", call_sbrk},
             {"sigaction", call_sigaction}};

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

int main(int count, char **arguments) {
    void (*call)(void) = NULL;
    for (size_t i = 0; i < sizeof calls / sizeof *calls && count == 3; i++)
        if (strcmp(arguments[2], calls[i].name) == 0)
            call = calls[i].call;
    bool after = count == 3 && strcmp(arguments[1], "after") == 0;
    if (!call || (!after && strcmp(arguments[1], "before") != 0)) {
        fprintf(stderr, "usage: %s before|after getpid|getrusage|gettimeofday|sbrk|sigaction\n", arguments[0]);
        return EXIT_FAILURE;
    }
    if (after && catapults_init(&(struct catapults_options){.activations = true}) != 0)
        return EXIT_FAILURE;
    int64_t least = INT64_MAX;
    for (int round = 0; round < ROUNDS; round++) {
        int64_t start = now();
        for (int i = 0; i < CALLS; i++)
            call();
        int64_t time = now() - start;
        least = time < least ? time : least;
    }
    printf("value %.2f\n", (double)least / CALLS);
    return EXIT_SUCCESS;
}
