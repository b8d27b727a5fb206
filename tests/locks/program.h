/*
 * Threads that lock, unlock, wait, post, send and yield, as the words of the command line say: each host's program
 * beside this file includes it and says how its own threads do so. What they pass is printed at the end, in order: that
 * is compared with a simulation (tests/tests/locks.rs).
 *
 *      PROGRAM PROTOCOLS VALUES KIND...
 *
 * PROTOCOLS has a character for each lock: `i` inheritance, `n` none, a digit for a ceiling. VALUES has a digit for
 * each semaphore. A KIND is one thread: the digit of its priority, and then steps of a letter and a digit. The first is
 * there at the beginning; each other is created by a step of one before it.
 *
 *      L0 U0   locks, unlocks          W0 P0   waits for, posts a semaphore
 *      G2      gives the thread 2 a message            R2      receives one, as the thread 2
 *      S1      creates the thread 1    M5      prints that it is here         Y0   yields
 */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 10, MOST_MARKS = 10000 };

/* Of the host. The locks and semaphores are made before any thread is created. */
static void host_create(int kind, int priority);
static void host_make_lock(int lock, char protocol);
static void host_make_semaphore(int semaphore, int value);
static void host_lock(int lock);
static void host_unlock(int lock);
static void host_wait(int semaphore);
static void host_post(int semaphore);
static void host_send(int receiver);
static void host_receive(int receiver);
static void host_yield(void);

static char **kinds;
static int kinds_count;

/* Hosts interrupt nobody here: each thread goes on until it waits or calls what may switch. */
static char marks[MOST_MARKS][2];
static volatile int marks_count;

static inline int program_priority(int kind) { return kinds[kind][0] - '0'; }

static inline void program_read(int count, char **words) {
    if (count < 4 || count - 3 > MOST)
        exit(2);
    kinds = words + 3;
    kinds_count = count - 3;
    for (int lock = 0; words[1][lock]; lock++)
        if (words[1][lock] != '-')
            host_make_lock(lock, words[1][lock]);
    for (int semaphore = 0; words[2][semaphore]; semaphore++)
        if (words[2][semaphore] != '-')
            host_make_semaphore(semaphore, words[2][semaphore] - '0');
}

static inline void program_do(int kind) {
    for (const char *step = kinds[kind] + 1; *step; step += 2) {
        int number = step[1] - '0';
        switch (step[0]) {
        case 'L':
            host_lock(number);
            break;
        case 'U':
            host_unlock(number);
            break;
        case 'W':
            host_wait(number);
            break;
        case 'P':
            host_post(number);
            break;
        case 'G':
            host_send(number);
            break;
        case 'R':
            host_receive(number);
            break;
        case 'S':
            host_create(number, program_priority(number));
            break;
        case 'Y':
            host_yield();
            break;
        case 'M':
            marks[marks_count][0] = (char)('0' + kind);
            marks[marks_count++][1] = step[1];
            break;
        }
    }
}

static inline void program_print(void) {
    for (int i = 0; i < marks_count; i++)
        printf("%c %c\n", marks[i][0], marks[i][1]);
    fflush(stdout);
}

#endif
