/*
 * Work for a scheduler, in a guest: `stress SECONDS PROCESSORS`. Processes that talk through pipes; some that compute;
 * some that are forked, execute a program, and end, over and over; while a parent changes the processors and the nice
 * values of all and kills some. What was begun has to end: the last line says how much there was, and how much is lost.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PAIRS = 4, HOGS = 3, FORKERS = 2, VICTIMS = 8, MEMBERS = 2 * PAIRS + HOGS + FORKERS };

static double now(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at); /* cannot fail: each kernel has this clock */
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

static double end;

/* Until the time is over, a byte goes to and fro; a zero byte ends it. */
static void ask(int to, int from) {
    char byte = 1;
    while (byte) {
        byte = now() < end;
        if (write(to, &byte, 1) != 1 || read(from, &byte, 1) != 1)
            _exit(1);
    }
    _exit(0);
}

static void answer(int from, int to) {
    char byte = 1;
    while (byte)
        if (read(from, &byte, 1) != 1 || write(to, &byte, 1) != 1)
            _exit(1);
    _exit(0);
}

/* A policy may let it run until it blocks: so it does, after some milliseconds. */
static void compute(void) {
    while (now() < end) {
        double pause = now() + 0.005;
        while (now() < pause)
            ;
        usleep(1000);
    }
    _exit(0);
}

static void breed(void) {
    while (now() < end) {
        pid_t child = fork();
        int status;
        if (child == 0) {
            execl("/proc/self/exe", "stress", (char *)NULL);
            _exit(1);
        }
        if (child < 0 && errno == EAGAIN)
            continue;
        if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
            _exit(1);
    }
    _exit(0);
}

static pid_t members[MEMBERS];
static int begun;

static int begin(void) {
    pid_t child = fork();
    if (child < 0)
        exit(2);
    if (child > 0)
        members[begun++] = child;
    return child == 0;
}

/* Processes that are killed while they can run. Gives how many did not die of that. */
static int kill_some(void) {
    pid_t victims[VICTIMS];
    int wrong = 0, status;
    for (int i = 0; i < VICTIMS; i++) {
        victims[i] = fork();
        if (victims[i] == 0)
            for (;;)
                usleep(0);
    }
    for (int i = 0; i < VICTIMS; i++)
        if (victims[i] > 0)
            kill(victims[i], SIGKILL); /* a child that nobody has waited for is there */
    for (int i = 0; i < VICTIMS; i++)
        if (victims[i] > 0 && (waitpid(victims[i], &status, 0) != victims[i] || !WIFSIGNALED(status)))
            wrong++;
    return wrong;
}

int main(int count, char **words) {
    if (count < 3)
        return 0;
    int processors = atoi(words[2]), lost = 0, changes = 0;
    end = now() + atof(words[1]);
    for (int i = 0; i < PAIRS; i++) {
        int there[2], back[2];
        if (pipe(there) || pipe(back))
            return 2;
        if (begin())
            ask(there[1], back[0]);
        if (begin())
            answer(there[0], back[1]);
    }
    for (int i = 0; i < HOGS; i++)
        if (begin())
            compute();
    for (int i = 0; i < FORKERS; i++)
        if (begin())
            breed();
    unsigned random = 1;
    while (now() < end) {
        cpu_set_t set;
        random = random * 1103515245 + 12345;
        unsigned processor = (random >> 20) % ((unsigned)processors + 1);
        pid_t member = members[(random >> 16) % MEMBERS];
        CPU_ZERO(&set);
        for (unsigned i = 0; i < (unsigned)processors; i++)
            if (i == processor || processor == (unsigned)processors)
                CPU_SET(i, &set);
        sched_setaffinity(member, sizeof set, &set); /* the member may have ended */
        setpriority(PRIO_PROCESS, (id_t)member, (int)(random >> 24) % 20);
        if (++changes % 16 == 0)
            lost += kill_some();
        usleep(2000);
    }
    for (int i = 0; i < MEMBERS; i++) {
        int status;
        if (waitpid(members[i], &status, 0) != members[i] || status != 0)
            lost++;
    }
    printf("stress: %d processes, %d changes, lost %d\n", MEMBERS, changes, lost);
    return lost != 0;
}
