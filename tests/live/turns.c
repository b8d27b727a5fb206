/*
 * For tests/tests/live.rs: a program for POSIX threads, or with CATAPULTS one written to catapults.h. Two threads that
 * compute, `one` and `other`, one that waits for a mutex of the first thread, and the first, which sleeps until its
 * standard input is closed. Each line that it writes is what one of those two has counted meanwhile.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static _Atomic int stop;
static _Atomic long counted[2];

#ifdef CATAPULTS
#include "catapults.h"

static catapults_int favour;
static catapults_mutex_t mutex = CATAPULTS_MUTEX_INITIALIZER;

static void start(const char *name, void *(*run)(void *), void *argument) {
    if (catapults_create(NULL, &(struct catapults_attributes){.name = name, .detached = true}, run, argument) != 0)
        abort();
}
static void take(void) { catapults_mutex_lock(&mutex); }
static void name(const char *text) { (void)text; }
static void begin(void) {
    if (catapults_init(NULL) != 0)
        abort();
    catapults_schedvar_register("favour", &favour);
}
static long wait_for_input(char *byte) { return catapults_read(0, byte, 1); }
#else
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void start(const char *name, void *(*run)(void *), void *argument) {
    pthread_t thread;
    (void)name;
    if (pthread_create(&thread, NULL, run, argument) != 0)
        abort();
}
static void take(void) { pthread_mutex_lock(&mutex); }
static void name(const char *text) { pthread_setname_np(pthread_self(), text); }
static void begin(void) {}
static long wait_for_input(char *byte) { return read(0, byte, 1); }
#endif

static void *count(void *which) {
    name(which == &counted[0] ? "one" : "other");
    while (!stop)
        ++*(_Atomic long *)which;
    return NULL;
}

static void *wait(void *unused) {
    name("waits");
    take();
    return unused;
}

int main(void) {
    char byte;
    begin();
    take();
    start("waits", wait, NULL);
    start("one", count, &counted[0]);
    start("other", count, &counted[1]);
    puts("begun");
    fflush(stdout);
    /* Each byte asks who has counted since the one before. */
    for (long before[2] = {0, 0}; wait_for_input(&byte) == 1;) {
        printf("%d%d\n", counted[0] > before[0], counted[1] > before[1]);
        fflush(stdout);
        before[0] = counted[0];
        before[1] = counted[1];
    }
    stop = 1;
    _exit(0);
}
